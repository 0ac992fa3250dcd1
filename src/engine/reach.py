"""What a run may reach: the web, local documents, or both; and who fetches what of it."""

from collections.abc import Callable, Collection, Sequence

from deepdelve.config import Settings
from deepdelve.core.errors import FetchError
from deepdelve.core.records import ReadScope
from deepdelve.tools.search.base import SearchBackend
from deepdelve.tools.web.base import Fetcher, Page
from deepdelve.utils.urls import canonical

LOCAL = "corpus"
CORPUS_SCHEME = "corpus://"


def scope_of(settings: Settings, search: SearchBackend) -> ReadScope:
    """The scope in force; ``auto`` is what the search backend searches."""
    asked = settings.search.scope
    if asked != "auto":
        return asked
    engines = search.name.split("+")
    if LOCAL not in engines:
        return "web"
    return "corpus" if engines == [LOCAL] else "both"


def scope_line(scope: ReadScope, search: SearchBackend, documents: int, seeds: int) -> str:
    """The scope in words, for the first notice of a run.

    Args:
        scope: what is in force.
        search: what searches it.
        documents: how many the corpus holds.
        seeds: how many pages and documents the person named, which are read in any case.
    """
    local = f"the {documents} documents of the corpus"
    what = {
        "web": f"the web, searched with {search.name}; no local documents",
        "corpus": f"{local}; no web pages",
        "both": f"{local} and the web, searched with {search.name}",
    }.get(scope, "")
    named = f" Read in any case: {seeds} named by you." if seeds else ""
    return f"Scope: {what}.{named}"


class ReachFetcher:
    """Sends each address to who can fetch it, within the scope; what the person named is always within it.

    Args:
        local: fetchers of corpus and seed documents, asked in turn.
        web: the fetcher of web pages; None where the run never goes to the web.
        only: canonical addresses that are all that may be fetched from the web; None for no such bound.
        closing: what else ends with the run.
    """

    def __init__(
        self,
        local: Sequence[Fetcher],
        web: Fetcher | None,
        *,
        only: Collection[str] | None = None,
        closing: Sequence[Callable[[], None]] = (),
    ) -> None:
        self._local = list(local)
        self._web = web
        self._only = only
        self._closing = list(closing)

    async def fetch(self, url: str) -> Page:
        """Fetch and extract.

        Raises:
            FetchError: as the fetchers do; cause ``refused`` where the scope keeps the address out.
        """
        if not url.startswith(CORPUS_SCHEME):
            if self._web is None or (self._only is not None and canonical(url) not in self._only):
                raise FetchError(
                    f"{url[:200]} is on the web, and this run reads local documents only.", "Use --scope both.", cause="refused"
                )
            return await self._web.fetch(url)
        failed = FetchError(f"{url[:200]} is in no corpus of this run.", "Use an address that a search returned.", cause="unreachable")
        for fetcher in self._local:
            try:
                return await fetcher.fetch(url)
            except FetchError as error:
                failed = error
        raise failed

    async def close(self) -> None:
        """Let go of everything."""
        for fetcher in [*self._local, *([self._web] if self._web is not None else [])]:
            await fetcher.close()
        for close in self._closing:
            close()
