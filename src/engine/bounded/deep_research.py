"""The bounded loop: frozen bounds, a counted number of rounds, sufficiency assessed before any refinement, one terminal synthesis."""

import asyncio
import json
import logging
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from deepdelve.core.errors import DeepDelveError, FetchError
from deepdelve.core.records import Hit
from deepdelve.engine.bounded import prompts, replies
from deepdelve.engine.bounded.bounds import MIN_QUERIES, Bounds, checked_topic, empty_queries, fan_out
from deepdelve.engine.bounded.gate import GateResult, check_synthesis
from deepdelve.engine.bounded.ledger import CallRow, QueryRow, sha256
from deepdelve.engine.bounded.opening import defaults, new_bounds
from deepdelve.engine.bounded.passages import best_passages, document_counts, shares
from deepdelve.engine.bounded.provider import ChatMessage, Excerpt, InferenceProvider, RetrievalContext
from deepdelve.engine.bounded.records import DeepResearchResult, FetchedSource, Phase, Status, Sufficiency
from deepdelve.engine.bounded.work import Services, Work, together, told
from deepdelve.engine.vault.sources import research_source
from deepdelve.utils.text import terms
from deepdelve.utils.urls import canonical, registrable_domain
from deepdelve.utils.words import one_line

log = logging.getLogger(__name__)

JUDGE_CHARS = 12_000
WRITER_CHARS = 40_000
COST_ALARM_USD = 1.00
_REPLY_CHARS = 200_000
_TOKEN_CHARS = 4


@dataclass
class _End:
    """How the run ends; what a fall through the loop means is its default."""

    status: Status = "max_iter_reached"
    error_message: str | None = None


async def run_deep_research(
    *,
    vault_id: str,
    topic: str,
    max_iter: int | None = None,
    token_budget: int | None = None,
    run_id: str | None = None,
    seed_queries: Sequence[str] | None = None,
    services: Services | None = None,
) -> DeepResearchResult:
    """Run one bounded research operation from its topic to its page.

    Args:
        vault_id: the vault that the page enters.
        topic: what is to be found out.
        max_iter: rounds at most; the environment's or the settings' where None. Frozen with the other bounds before anything is asked.
        token_budget: tokens after which no further round begins; as ``max_iter``.
        run_id: the run's id; a run that is already in the ledger under it is taken up with its frozen bounds.
        seed_queries: what the first round searches, instead of queries by the model.
        services: what it works with; opened as the settings say where None.

    Raises:
        UsageError: topic or bounds cannot be accepted; nothing was started.
        ConfigError: no SearXNG is set; nothing was started.
    """
    asked = checked_topic(topic)
    async with defaults(vault_id, services) as ready:
        ledger, name = ready.ledger, run_id or str(uuid.uuid4())
        known = await asyncio.to_thread(ledger.find, name)
        if known is None:
            bounds, frozen = new_bounds(ready, max_iter, token_budget)
            await asyncio.to_thread(ledger.insert, name, vault_id, asked, bounds, frozen)
        else:
            bounds, asked = Bounds.from_dict(known.frozen_json), known.topic
        return await _conduct(Work(name, asked, bounds, ready), list(seed_queries or ()))


async def _conduct(work: Work, seeds: list[str]) -> DeepResearchResult:
    """The loop and its one synthesis; the row is final however this ends."""
    end = _End()
    try:
        end.status = work.status = await _bounded_loop(work, work.provider, seeds)
        await _conclude(work)
    except asyncio.CancelledError:
        end.status = "cancelled"
        raise
    except Exception as error:
        # The edge of a run: whatever failed, the ledger must say so.
        end.status, end.error_message = "error", told(error)
        log.warning("vault run %s failed", work.run_id, exc_info=not isinstance(error, DeepDelveError))
    finally:
        await asyncio.shield(asyncio.ensure_future(_finalize(work, end)))
    return _result(work, end)


async def _bounded_loop(work: Work, provider: InferenceProvider, seeds: list[str]) -> Status:
    """At most ``max_iter`` rounds. The bounds are locals: nothing is read again while it goes on."""
    topic, max_iter, token_budget, max_queries = work.topic, work.bounds.max_iter, work.bounds.token_budget, work.bounds.max_queries
    accumulator = work.accumulator
    status: Status = "max_iter_reached"
    clock = asyncio.timeout(max(0.0, work.deadline - time.monotonic()))
    try:
        async with clock:
            queries = _seeded(work, seeds) or await _generate_queries(work, provider, topic, (), max_queries=max_queries)
            for iteration in range(1, max_iter + 1):
                await work.begin_round(iteration)
                if accumulator.total_tokens >= token_budget:
                    status = "budget_exhausted"
                    break
                hits = await _search_searxng(work, queries)
                fetched = await _fetch_and_extract(work, hits)
                verdict = await _assess_sufficiency(work, provider, topic, work.usable)
                await work.end_round(fetched)
                if verdict.sufficient:
                    status = "converged"
                    break
                if iteration < max_iter:
                    queries = await _generate_queries(work, provider, topic, verdict.gaps, max_queries=max_queries)
    except TimeoutError:
        if not clock.expired():
            raise
        status, work.stop_detail = "budget_exhausted", "deadline"
    return status


async def _conclude(work: Work) -> None:
    """The single terminal synthesis, its gate, and the way into the vault. Without a usable source there is none of them."""
    if not work.usable:
        work.stop_detail = "search_unavailable" if work.searched_in_vain() else work.stop_detail or "no_sources"
        return
    work.synthesis = await _synthesize(work, work.provider, work.topic, work.usable)
    await work.enter("validating")
    result = await asyncio.to_thread(check_synthesis, work.synthesis, work.topic, work.usable)
    work.synthesis = result.text or work.synthesis
    await _score(work, result)
    if not result.ok:
        work.stop_detail = "synthesis_invalid"
        work.tell("invalid", problems=list(result.problems[:8]))
        return
    await _ingest_synthesis(work, result)


def _seeded(work: Work, seeds: list[str]) -> list[str]:
    """The queries that the person gave for the first round; what is left out of them is told."""
    found = replies.parse_queries("\n".join(seeds), (), work.bounds.max_queries)
    dropped = [*empty_queries(seeds), *replies.parse_queries("\n".join(seeds), found, len(seeds))]
    if dropped:
        work.tell("left_out", queries=dropped, most=work.bounds.max_queries)
    return replies.topped_up(found, work.topic, (), MIN_QUERIES) if found else []


async def _generate_queries(
    work: Work, provider: InferenceProvider, topic: str, prior_context: Sequence[str], *, max_queries: int
) -> list[str]:
    """Two to ``max_queries`` queries, none of which was used before if that can be helped.

    The first ones know what earlier runs have found; that costs no call.
    """
    await work.enter("generating")
    used = tuple(work.queries_used)
    known = () if work.iteration else await work.services.earlier(topic)
    context = RetrievalContext("queries", topic, gaps=tuple(prior_context), known=known, used=used, max_queries=max_queries)
    messages = prompts.queries(topic, prior_context, known, used, max_queries, MIN_QUERIES, work.nonce)
    found = replies.parse_queries(await _ask(work, provider, "generating", messages, context), used, max_queries)
    return replies.topped_up(found, topic, used, MIN_QUERIES)


async def _search_searxng(work: Work, queries: list[str]) -> list[Hit]:
    """Search all queries, at most three at a time; hits in the order of queries and ranks, each address once."""
    await work.enter("searching")
    await work.use(queries)
    iteration = work.iteration

    async def one(ordinal: int, query: str) -> tuple[Hit, ...]:
        async with fan_out():
            reply = await work.services.searxng.search(query)
        await work.asked(QueryRow(iteration, ordinal, query, reply.kind, len(reply.hits), reply.detail, reply.unresponsive))
        return reply.hits

    answers = await together(one(number, query) for number, query in enumerate(queries, 1))
    first_seen: dict[str, Hit] = {}
    for rank in range(max((len(hits) for hits in answers), default=0)):
        for hits in answers:
            if rank < len(hits) and registrable_domain(hits[rank].url) not in work.services.blocked_domains:
                first_seen.setdefault(canonical(hits[rank].url), hits[rank])
    return list(first_seen.values())


async def _fetch_and_extract(work: Work, hits: list[Hit]) -> list[FetchedSource]:
    """Fetch each new hit once, at most three at a time. What fails is entered with its reason, and not tried again."""
    await work.enter("fetching")
    limit, iteration = work.bounds.fetch_max_chars, work.iteration

    async def one(ordinal: int, hit: Hit) -> FetchedSource:
        async with fan_out():
            source = await _fetched(work, ordinal, hit, limit, iteration)
        if source.usable:
            await work.write(work.services.vault.keep_page, source.sha256, source.url, source.title, source.fetched_at, source.text)
        await work.collect(source)
        return source

    return await together(one(ordinal, hit) for ordinal, hit in work.claim(hits))


async def _fetched(work: Work, ordinal: int, hit: Hit, limit: int, iteration: int) -> FetchedSource:
    url = canonical(hit.url)
    try:
        page = await work.services.fetcher.fetch(hit.url)
    except FetchError as error:
        return FetchedSource(ordinal, hit.url, url, hit.title, "", iteration, f"{error.cause}: {error.message}"[:300], error.status or 0)
    text = page.text.replace("\x00", "")[:limit].strip()
    outcome = "ok" if page.state == "ok" and text else f"{page.state}: {page.reason}"[:300] if page.state != "ok" else "no_text"
    title = one_line(page.title or hit.title, 200)
    return FetchedSource(ordinal, hit.url, url, title, text, iteration, outcome, page.status, sha256(text) if text else "", page.fetched_at)


async def _assess_sufficiency(work: Work, provider: InferenceProvider, topic: str, collected: Sequence[FetchedSource]) -> Sufficiency:
    """The verdict on all usable sources, the newest round first. Where there are none it is insufficient, whatever a model says."""
    await work.enter("assessing")
    newest = sorted(collected, key=lambda source: (-source.iteration, source.ordinal))
    excerpts = await asyncio.to_thread(fair_excerpts, newest, topic, JUDGE_CHARS)
    messages = prompts.assessment(topic, excerpts, work.nonce)
    reply = await _ask(work, provider, "assessing", messages, RetrievalContext("assess", topic, excerpts))
    verdict = replies.parse_verdict(reply)
    return verdict if collected else Sufficiency(False, verdict.gaps)


async def _synthesize(work: Work, provider: InferenceProvider, topic: str, collected: Sequence[FetchedSource]) -> str:
    """The note, in one call."""
    await work.enter("synthesizing")
    excerpts = await asyncio.to_thread(fair_excerpts, collected, topic, WRITER_CHARS)
    messages = prompts.synthesis(topic, excerpts, work.nonce)
    return await _ask(work, provider, "synthesizing", messages, RetrievalContext("synthesize", topic, excerpts))


async def _ingest_synthesis(work: Work, result: GateResult) -> None:
    """Write the note as a source of the vault and send it through the seam, which alone makes pages of it."""
    await work.enter("ingesting")
    vault = work.services.vault
    source = research_source(work.run_id, work.topic, work.status, result, work.usable)
    try:
        path = await work.write(vault.write_raw, source)
        ingested = await work.write(work.services.seam.ingest_file, path)
    except DeepDelveError as error:
        work.stop_detail, work.ingest_status = "ingest_failed", error.line()[:500]
        return
    work.page_id, work.page_path = ingested.page_id, ingested.path
    work.ingest_status = ingested.status if not ingested.reason else f"{ingested.status}: {ingested.reason}"


async def _ask(
    work: Work,
    provider: InferenceProvider,
    phase: Literal["generating", "assessing", "synthesizing"],
    messages: Sequence[ChatMessage],
    context: RetrievalContext,
) -> str:
    """One reply, whole; a call of which the provider tells no usage is estimated, so that the budget holds all the same."""
    account, began = work.accumulator, time.monotonic()
    calls, tokens_in, tokens_out = account.calls, account.tokens_in, account.tokens_out
    pieces: list[str] = []
    said, outcome = 0, "failed"
    try:
        async for piece in provider.chat(messages, context):
            pieces.append(piece)
            said += len(piece)
            if said > _REPLY_CHARS:
                break
        outcome = "ok"
    finally:
        if account.calls == calls:
            sent = sum(len(message.content) for message in messages)
            account.estimate(sent // _TOKEN_CHARS, said // _TOKEN_CHARS)
        ms = round(1000 * (time.monotonic() - began))
        row = CallRow(work.iteration, phase, account.tokens_in - tokens_in, account.tokens_out - tokens_out, ms, account.estimated, outcome)
        await asyncio.shield(asyncio.ensure_future(work.called(row)))
    return "".join(pieces)


def fair_excerpts(sources: Sequence[FetchedSource], topic: str, total: int) -> tuple[Excerpt, ...]:
    """Each source with its best passages within its fair share of ``total`` characters. Numbers are those of citations."""
    corpus = document_counts([source.chunks for source in sources])
    wanted = terms(topic)
    numbers = {source.ordinal: n for n, source in enumerate(sorted(sources, key=lambda source: source.ordinal), 1)}
    given = shares([len(source.text) for source in sources], total)
    return tuple(
        Excerpt(numbers[source.ordinal], source.title, source.url, best_passages(source.text, source.chunks, wanted, limit, corpus))
        for source, limit in zip(sources, given, strict=True)
    )


async def _score(work: Work, result: GateResult) -> None:
    """Enter how much of the topic each source holds, and whether it is cited."""
    wanted = set(terms(work.topic))
    scores = {
        source.canonical_url: len(wanted & {term for chunk in source.chunks for term in chunk.counts}) / len(wanted) if wanted else 0.0
        for source in work.usable
    }
    cited = [source.canonical_url for n, source in enumerate(work.usable, 1) if n in result.cited]
    await work.write(work.services.ledger.score_sources, work.run_id, scores, cited)


async def _finalize(work: Work, end: _End) -> None:
    """The last write: the row becomes final, and one structured line goes to the log."""
    final = {
        **work.counts(),
        "iterations_used": work.iteration,
        "stop_detail": work.stop_detail,
        "error_message": end.error_message,
        "synthesis_text": work.synthesis or None,
        "synthesis_sha256": sha256(work.synthesis) if work.synthesis else None,
        "synthesis_page_id": work.page_id,
        "ingest_status": work.ingest_status,
    }
    await asyncio.to_thread(work.services.ledger.finish, work.run_id, end.status, **final)
    facts = {key: final[key] for key in ("iterations_used", "sources_fetched", "total_cost_usd", "stop_detail")}
    log.info("deep_research_run %s", json.dumps({"run_id": work.run_id, "status": end.status, **facts}))
    cost = work.accumulator.total_cost_usd
    if cost > COST_ALARM_USD:
        log.warning("vault run %s cost %.4f USD, more than %.2f", work.run_id, cost, COST_ALARM_USD)
    ended: Phase = "done"
    work.tell("done", phase=ended, status=end.status, page=work.page_path, ingest=work.ingest_status, **facts)


def _result(work: Work, end: _End) -> DeepResearchResult:
    account = work.accumulator
    return DeepResearchResult(
        run_id=work.run_id,
        status=end.status,
        iterations_used=work.iteration,
        sources_fetched=len(work.collected),
        total_cost_usd=round(account.total_cost_usd, 4),
        synthesis_page_id=work.page_id,
        error_message=end.error_message,
        stop_detail=work.stop_detail,
        page_path=work.page_path,
        usage={"tokens_in": account.tokens_in, "tokens_out": account.tokens_out, "estimated": account.estimated},
    )
