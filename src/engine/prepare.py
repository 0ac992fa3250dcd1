"""What must be had before a run exists: a model that answers, a place to search, documents that can be read."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, cast

from deepdelve.config import Settings
from deepdelve.core.errors import BackendCause, BackendError, UsageError
from deepdelve.core.paths import given_path
from deepdelve.core.records import ReadScope
from deepdelve.core.requests import RunRequest
from deepdelve.engine import evidence_bundle, reach, setup
from deepdelve.engine.ablation import ablation_of
from deepdelve.engine.backends.base import ChatFactory, Hooks
from deepdelve.engine.backends.record import Recorder, RecordingFactory, RecordingFetcher, RecordingSearch, recording_hooks
from deepdelve.engine.earlier import EarlierRuns
from deepdelve.engine.evidence_bundle import Bundle
from deepdelve.engine.history_tool import HistoryBackend
from deepdelve.engine.reuse import EarlierFindings, ReusingFetcher, ReusingSearch
from deepdelve.engine.roles import check_approvals
from deepdelve.engine.usage import RunHooks
from deepdelve.tools.search.base import SearchBackend, SearchQuery, SearchResponse
from deepdelve.tools.web.base import Fetcher

if TYPE_CHECKING:
    from deepdelve.tools.search.corpus import CorpusIndex

SEED_LIMIT = 50


class Choose(Protocol):
    """Chooses the backend of a run, and says in one line which."""

    async def __call__(self, settings: Settings, hooks: Hooks) -> tuple[ChatFactory, str]:
        """Choose.

        Raises:
            BackendError: the model that was asked for cannot be reached.
        """
        ...


class NoSearch:
    """Stands where a run does no research: it answers that there is nothing to search."""

    name = "none"

    async def search(self, query: SearchQuery) -> SearchResponse:
        """Find nothing, and say why."""
        return SearchResponse(outcome="unavailable", detail="This run works on given evidence only.")

    async def close(self) -> None:
        """Nothing to let go of."""


@dataclass(frozen=True)
class _Places:
    """Where a run looks: the web, local documents, and what earlier runs have kept; ``line`` says it to a person."""

    search: SearchBackend
    fetcher: Fetcher
    findings: SearchBackend | None = None
    history: SearchBackend | None = None
    scope: ReadScope = ""
    line: str = ""

    def recorded(self, recorder: Recorder) -> "_Places":
        """The same, each answer written down."""
        findings = RecordingSearch(self.findings, recorder) if self.findings else None
        history = RecordingSearch(self.history, recorder) if self.history else None
        search, fetcher = RecordingSearch(self.search, recorder), RecordingFetcher(self.fetcher, recorder)
        return replace(self, search=search, fetcher=fetcher, findings=findings, history=history)


async def prepare(request: RunRequest, settings: Settings, choose: Choose | None = None) -> setup.Prepared:
    """Get everything together.

    Args:
        request: what is asked for.
        settings: the settings in force; the request's own choices go over them.
        choose: replaces the choice of a backend (tests).

    Raises:
        ConfigError: the settings switch off, allow or deny something that is not there.
        UsageError: the request cannot be carried out.
        BackendError: the model that was asked for cannot be reached.
    """
    question = setup.checked_question(request.question)
    chosen = setup.applied(settings, request)
    ablation_of(chosen.settings.ablation)
    check_approvals(chosen.settings.approvals)
    evidence = await _bundle(request)
    if evidence is not None:
        chosen.search.corpus = []
    urls = setup.seed_addresses(request.seed_urls)
    corpus = await corpus_index(chosen.search.corpus)
    seeds = await corpus_index(request.seed_docs, "document")
    hooks = RunHooks()
    recorder = Recorder() if request.record else None
    backend, line = await (choose or choose_backend)(chosen, recording_hooks(hooks.hooks, recorder) if recorder else hooks.hooks)
    try:
        places = _places(chosen, corpus, seeds, urls) if evidence is None else _Places(NoSearch(), reach.ReachFetcher([], None))
    except UsageError:
        await backend.close()
        raise
    if recorder is not None:
        backend, places = RecordingFactory(backend, recorder), places.recorded(recorder)
    addresses = [*(_addresses(seeds) if seeds else ()), *urls]
    notes = [f"Not read: {skipped.path} ({skipped.reason})." for index in (corpus, seeds) if index for skipped in index.skipped[:5]]
    return setup.Prepared(
        settings=chosen,
        question=question,
        backend=backend,
        backend_line=line,
        search=places.search,
        fetcher=places.fetcher,
        seeds=tuple(addresses),
        hooks=hooks,
        notes=tuple(notes),
        recorder=recorder,
        scope=places.scope,
        scope_line=places.line,
        findings=places.findings,
        history=places.history,
        evidence=evidence,
    )


async def choose_backend(settings: Settings, hooks: Hooks) -> tuple[ChatFactory, str]:
    """The backend that the settings ask for."""
    from deepdelve.engine.backends import select

    def builtin() -> ChatFactory:
        from deepdelve.engine.backends.builtin.client import BuiltinFactory

        return BuiltinFactory(hooks=hooks)

    choice = await select.choose(settings, builtin=builtin, hooks=hooks)
    if choice.factory.name == "builtin" or not settings.api.preflight:
        return choice.factory, choice.line
    return choice.factory, " ".join([choice.line, *await _preflight(settings, builtin, choice.factory)])


async def _preflight(settings: Settings, builtin: Callable[[], ChatFactory], factory: ChatFactory) -> list[str]:
    """What a model cannot do, found before the run: one that no run can be had with ends it here, the rest is said.

    Raises:
        BackendError: the server refuses the key, lacks the model, is none, or says that the model cannot call tools.
    """
    from deepdelve.engine.backends.doctor import FATAL, preflight

    findings = await preflight(settings, builtin=builtin, model=factory.model)
    ill = [finding for finding in findings if not finding.ok]
    refused = next((finding for finding in ill if finding.cause in FATAL), None)
    if refused is not None:
        await factory.close()
        raise BackendError(refused.detail, refused.fix, cause=cast("BackendCause", refused.cause))
    return [f"{finding.detail} {finding.fix}".strip() for finding in ill]


async def _bundle(request: RunRequest) -> Bundle | None:
    if not request.evidence_dir:
        return None
    if request.corpus or request.seed_docs or request.seed_urls:
        raise UsageError("An evidence-only run reads its bundle and nothing else.", "Leave out --corpus, --seed-doc and --seed-url.")
    return await asyncio.to_thread(evidence_bundle.load, given_path(request.evidence_dir).absolute())


async def corpus_index(paths: Sequence[str], what: str = "corpus") -> "CorpusIndex | None":
    """The index of these folders and files; None where there are none.

    Raises:
        CorpusError: one of them cannot be read.
    """
    if not paths:
        return None
    from deepdelve.tools.search.corpus import CorpusIndex

    return await CorpusIndex.build(setup.checked_paths(paths, what))


def _addresses(index: "CorpusIndex") -> list[str]:
    """The addresses of all documents of a seed index, up to a bound."""
    found = index.addresses(SEED_LIMIT + 1)
    if len(found) > SEED_LIMIT:
        raise UsageError(f"There are more than {SEED_LIMIT} seed documents.", "Give the folder as --corpus instead: it is searched.")
    return found


def _search(settings: Settings, corpus: "CorpusIndex | None") -> SearchBackend:
    from deepdelve.tools.search import registry
    from deepdelve.tools.search.corpus import CorpusBackend

    return registry.build(settings, CorpusBackend(corpus) if corpus is not None else None)


def _places(settings: Settings, corpus: "CorpusIndex | None", seeds: "CorpusIndex | None", urls: Sequence[str]) -> _Places:
    search = _search(settings, corpus)
    scope = reach.scope_of(settings, search)
    fetcher = _fetcher(settings, scope, corpus, seeds, urls)
    named = len(urls) + (seeds.documents if seeds else 0)
    line = reach.scope_line(scope, search, corpus.documents if corpus else 0, named)
    if not settings.fetch.reuse_earlier_runs:
        return _Places(search, fetcher, None, None, scope, line)
    earlier = EarlierRuns()
    return _Places(
        search if scope == "corpus" else ReusingSearch(search, earlier, settings.search.blocked_domains),
        ReusingFetcher(fetcher, earlier, frozenset(urls)),
        EarlierFindings(earlier, scope),
        HistoryBackend(settings),
        scope,
        line,
    )


def _fetcher(
    settings: Settings, scope: ReadScope, corpus: "CorpusIndex | None", seeds: "CorpusIndex | None", urls: Sequence[str]
) -> Fetcher:
    """Who fetches within the scope. Seeds are read whatever the scope; a run without any of the web has no way to it."""
    from deepdelve.tools.search.corpus import CorpusFetcher

    local = [seeds, corpus if scope != "web" else None]
    web = web_fetcher(settings) if scope != "corpus" or urls else None
    return reach.ReachFetcher(
        [CorpusFetcher(index) for index in local if index is not None],
        web,
        only=frozenset(urls) if scope == "corpus" else None,
        closing=[index.close for index in (corpus, seeds) if index is not None],
    )


def web_fetcher(settings: Settings) -> Fetcher:
    """The guarded fetcher of web pages, with extraction, stub detection and the page cache; shared by the runs of a process."""
    from deepdelve.tools.web.shared import shared_fetchers

    return shared_fetchers().lease(settings.fetch)
