"""Opens what a run works with, as the settings say, and freezes its bounds."""

import contextlib
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from deepdelve.config import Settings
from deepdelve.core.errors import ConfigError
from deepdelve.engine.bounded import prompts
from deepdelve.engine.bounded.backends import open_provider
from deepdelve.engine.bounded.bounds import Bounds, frozen_bounds, searxng_url
from deepdelve.engine.bounded.database import Database, database_url, open_database
from deepdelve.engine.bounded.ledger import Ledger
from deepdelve.engine.bounded.work import Services, nothing_before
from deepdelve.engine.earlier import EarlierRuns
from deepdelve.engine.reuse import EarlierFindings, ReusingFetcher
from deepdelve.engine.vault.layout import Vault, vault_of
from deepdelve.engine.vault.seam import IngestSeam
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.searxng import SearxngClient
from deepdelve.tools.web.shared import shared_fetchers
from deepdelve.utils.secrets import fill
from deepdelve.utils.settings_file import load
from deepdelve.utils.urls import registrable_domain

MAX_PDF_BYTES = 15 * 1024 * 1024
NO_SEARXNG = "No SearXNG is set, and vault research searches nowhere else."
NO_SEARXNG_REMEDY = "Set SEARXNG_URL or search.searxng_url, for example http://127.0.0.1:8888; docs/searxng.md says how to start one."


def settings_in_force() -> Settings:
    """Those of file and environment.

    Raises:
        ConfigError: as the loader.
    """
    return fill(load(None, flags={}))


async def open_services(
    settings: Settings, vault: Vault, database: Database, listener: Callable[[dict[str, Any]], None] | None = None
) -> Services:
    """Everything for one run.

    Raises:
        ConfigError: no SearXNG is set, or an address is none.
        BackendError: a model that was asked for cannot be reached.
    """
    url = searxng_url(settings)
    if not url:
        raise ConfigError(NO_SEARXNG, NO_SEARXNG_REMEDY)
    searxng = SearxngClient(url)
    try:
        model = await open_provider(settings)
    except BaseException:
        await searxng.close()
        raise
    fetch = settings.fetch.model_copy(update={"max_pdf_bytes": min(settings.fetch.max_pdf_bytes, MAX_PDF_BYTES)})
    leased, earlier, reuse = shared_fetchers().lease(fetch), EarlierRuns(), settings.fetch.reuse_earlier_runs
    blocked = {registrable_domain(f"http://{domain}/") for domain in settings.search.blocked_domains}
    return Services(
        ledger=Ledger(database),
        vault=vault,
        seam=IngestSeam(vault, database),
        model=model,
        searxng=searxng,
        fetcher=ReusingFetcher(leased, earlier) if reuse else leased,
        settings=settings,
        blocked_domains=frozenset(blocked),
        listener=listener,
        earlier=_findings(earlier) if reuse else nothing_before,
    )


def _findings(earlier: EarlierRuns) -> Callable[[str], Awaitable[tuple[str, ...]]]:
    """What verified reports of earlier runs say of a topic, one claim a line, with the day on which its source was read."""
    claims = EarlierFindings(earlier, "web")

    async def known(topic: str) -> tuple[str, ...]:
        found = await claims.search(SearchQuery(topic))
        return tuple(f"{hit.snippet} (read {hit.read_on})" for hit in found.hits)

    return known


def new_bounds(services: Services, max_iter: int | None, token_budget: int | None) -> tuple[Bounds, dict[str, Any]]:
    """The bounds of a new run, and what else is frozen with them.

    Raises:
        UsageError: a bound is out of range.
    """
    return frozen_bounds(services.settings, max_iter, token_budget), frozen_facts(services.settings, services.vault, services.model.model)


def frozen_facts(settings: Settings, vault: Vault, model: str) -> dict[str, Any]:
    """What a run's row says about its surroundings; of the SearXNG instance only a hash, since an address may hold a password."""
    endpoint = settings.api.openai_base_url if settings.api.backend == "openai" else settings.api.ollama_host
    return {
        "model": model or settings.api.openai_model or settings.api.ollama_model,
        "backend": settings.api.backend,
        "endpoint_sha256": _hash(endpoint),
        "prompt_version": prompts.VERSION,
        "searxng_sha256": _hash(searxng_url(settings)),
        "vault_dir": str(vault.root),
    }


@contextlib.asynccontextmanager
async def defaults(vault_id: str, services: Services | None) -> AsyncGenerator[Services]:
    """The given services, or those of the settings for as long as the block lasts."""
    if services is not None:
        yield services
        return
    settings = settings_in_force()
    database = open_database(database_url(settings))
    try:
        opened = await open_services(settings, vault_of(settings, vault_id), database)
        try:
            yield opened
        finally:
            await opened.close()
    finally:
        database.close()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
