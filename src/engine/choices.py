"""What a person may choose before a run, looked at when it is chosen: models, search engines, evidence bundles."""

from pathlib import Path

from deepdelve.config import Settings
from deepdelve.core.errors import BackendError, ConfigError
from deepdelve.tools.search import registry
from deepdelve.tools.search.base import SearchQuery, SearchResponse

LISTING_SECONDS = 1.5


class _SomeCorpus:
    """Stands for the corpus that the run may have."""

    name = "corpus"

    async def search(self, query: SearchQuery) -> SearchResponse:
        """Nothing is searched."""
        del query
        return SearchResponse()

    async def close(self) -> None:
        """Nothing to let go of."""


async def models(settings: Settings) -> list[str]:
    """The models that the server of the settings offers, the newest first where it tells; none where it cannot be asked."""
    api = settings.api
    if api.backend == "builtin":
        return []
    try:
        if api.backend == "openai" or (api.backend == "auto" and api.openai_base_url):
            return await _openai_models(settings)
        return await _ollama_models(settings)
    except (BackendError, ConfigError):
        return []


def search_engines() -> list[str]:
    """The names that ``search.backend`` takes."""
    return ["auto", *registry.NAMES]


async def check_search(settings: Settings) -> None:
    """Hold that the search engines of the settings can be asked; none of them is.

    Raises:
        ConfigError: one is unknown, or lacks its key or address.
    """
    await registry.build(settings, _SomeCorpus()).close()


def check_bundle(folder: Path) -> int:
    """How many texts an evidence bundle holds.

    Raises:
        UsageError: there is no bundle there, or no line of it can be used.
    """
    from deepdelve.engine import evidence_bundle

    return len(evidence_bundle.load(folder).entries)


async def _ollama_models(settings: Settings) -> list[str]:
    from deepdelve.engine.backends.address import server_url
    from deepdelve.engine.backends.ollama import OllamaServer

    server = OllamaServer(server_url(settings.api.ollama_host, key="api.ollama_host"))
    try:
        return [name for name, _ in await server.tags(seconds=LISTING_SECONDS)]
    finally:
        await server.close()


async def _openai_models(settings: Settings) -> list[str]:
    from deepdelve.engine.backends.address import server_url
    from deepdelve.engine.backends.openai import OpenAIServer
    from deepdelve.engine.backends.switches import find_key

    url = server_url(settings.api.openai_base_url, key="api.openai_base_url")
    server = OpenAIServer(url, lambda: find_key(settings, url))
    try:
        return await server.models(seconds=LISTING_SECONDS)
    finally:
        await server.close()
