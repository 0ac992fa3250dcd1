"""What vault research needs, looked at: SearXNG, ledger, vault and model, each failure with what mends it."""

import asyncio
from collections.abc import Callable

from deepdelve.config import Settings
from deepdelve.core.errors import DeepDelveError
from deepdelve.engine.backends.doctor import Finding
from deepdelve.engine.bounded.backends import open_provider
from deepdelve.engine.bounded.bounds import searxng_url
from deepdelve.engine.bounded.database import database_url, open_database
from deepdelve.engine.bounded.opening import NO_SEARXNG, NO_SEARXNG_REMEDY
from deepdelve.engine.vault.layout import Vault
from deepdelve.tools.searxng import SearxngClient, SearxngProbe

_FIXES = {
    "engines_down": "Look into its settings.yml: other engines, or longer time-outs. docs/searxng.md says more.",
    "json_disabled": "Add json to search.formats in its settings.yml and restart it.",
    "rate_limited": "Switch its limiter off, or allow this IP in its limiter.toml.",
    "unavailable": "Start it, or correct SEARXNG_URL. docs/searxng.md says how.",
    "empty": "Switch engines on in its settings.yml.",
}


async def check(settings: Settings, vault: Vault) -> list[Finding]:
    """Look at everything that a bounded run needs; nothing is changed but that the ledger's tables are made."""
    return [
        *await _searxng(settings),
        await asyncio.to_thread(_told, "ledger", lambda: _ledger(settings)),
        await asyncio.to_thread(_told, "vault", lambda: _folder(vault)),
        await _model(settings),
    ]


async def _searxng(settings: Settings) -> list[Finding]:
    url = searxng_url(settings)
    if not url:
        return [Finding("searxng", False, NO_SEARXNG, NO_SEARXNG_REMEDY)]
    try:
        client = SearxngClient(url)
    except DeepDelveError as error:
        return [Finding("searxng", False, error.message, error.remedy)]
    try:
        return searxng_findings(await client.probe())
    finally:
        await client.close()


def searxng_findings(probe: SearxngProbe) -> list[Finding]:
    """What an instance's answers mean."""
    reply = probe.search
    about = f"version {probe.version or 'unknown'}, {probe.engines} engines"
    up = Finding("searxng", probe.healthy, about if probe.healthy else "It does not say that it is healthy.", _FIXES["unavailable"])
    ok = reply.kind in {"ok", "empty"}
    down = f" Without {', '.join(name for name, _ in reply.unresponsive[:5])}." if reply.unresponsive else ""
    detail = reply.detail or f"It answers JSON with {len(reply.hits)} hits.{down}"
    return [up, Finding(f"searxng {reply.kind.replace('_', ' ')}", ok, detail, _FIXES.get(reply.kind, ""))]


async def _model(settings: Settings) -> Finding:
    try:
        opened = await open_provider(settings)
    except DeepDelveError as error:
        return Finding("model", False, error.message, error.remedy)
    await opened.close()
    return Finding("model", True, opened.line)


def _told(name: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, look())
    except DeepDelveError as error:
        return Finding(name, False, error.message, error.remedy)


def _ledger(settings: Settings) -> str:
    database = open_database(database_url(settings))
    name = database.engine.url.render_as_string(hide_password=True)
    database.close()
    return name


def _folder(vault: Vault) -> str:
    vault.check_writable()
    return f"{vault.root} ({'there' if vault.root.is_dir() else 'is made with the first page'})"
