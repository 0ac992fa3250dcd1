"""The engines by name, and which of them the settings ask for."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx

from deepdelve.config import SearchSettings, Settings, nearest
from deepdelve.core.errors import ConfigError
from deepdelve.tools.search.base import SearchBackend
from deepdelve.tools.search.engine import ClientFactory, default_client
from deepdelve.tools.search.rotation import Engine, Searcher

NAMES = ("corpus", "searxng", "ddgs", "wikipedia", "arxiv", "openalex", "crossref", "semantic_scholar", "brave", "tavily")
ACADEMIC = ("openalex", "arxiv", "crossref", "semantic_scholar")
_WEB, _ACADEMIC, _BOTH = frozenset({"web"}), frozenset({"academic"}), frozenset({"web", "academic"})
_ACADEMIC_AT_ONCE = 3
# Seconds between requests, as each operator asks for (arXiv: 3; Crossref, OpenAlex and Wikipedia: be gentle).
_INTERVALS = {"ddgs": 2.0, "arxiv": 3.0, "openalex": 0.2, "crossref": 0.5, "semantic_scholar": 1.1, "wikipedia": 0.2, "brave": 1.1}


@dataclass(frozen=True)
class _Parts:
    """What engines are made of."""

    settings: SearchSettings
    corpus: SearchBackend | None
    factory: ClientFactory | None
    searxng_url: str

    def client(self) -> httpx.AsyncClient:
        """Connections for one engine."""
        return (self.factory or default_client)()


def build(
    settings: Settings,
    corpus_backend: SearchBackend | None = None,
    client_factory: Callable[[], httpx.AsyncClient] | None = None,
    env: Mapping[str, str] | None = None,
) -> SearchBackend:
    """The search backend that the settings ask for.

    ``search.backend`` is ``auto``, a name, or several names with commas, which are then asked together. ``auto`` takes the
    corpus if there is one, else SearXNG if its address is set, else ddgs and, where that fails, engines with a key and
    Wikipedia; academic searches go to OpenAlex, arXiv, Crossref and Semantic Scholar. ``search.scope`` narrows or widens it:
    ``corpus`` is the corpus alone, ``web`` leaves it out, ``both`` merges it with the web.

    Args:
        settings: all settings.
        corpus_backend: the local documents, if there are any.
        client_factory: makes the connections of one engine; replaced in tests.
        env: the environment (``SEARXNG_URL``); None takes the process's own.

    Raises:
        ConfigError: an unknown engine, one without its key or address, or a scope that needs a corpus where there is none.
    """
    searxng_url = settings.search.searxng_url or (os.environ if env is None else env).get("SEARXNG_URL", "")
    parts = _Parts(settings.search, corpus_backend, client_factory, searxng_url)
    scope = settings.search.scope
    if scope in ("corpus", "both") and corpus_backend is None:
        raise ConfigError(f"The scope is {scope}, but there is no corpus.", "Give one with --corpus, or leave --scope out.")
    names = _names(settings.search.backend)
    if scope == "corpus":
        names = ["corpus"]
    if names == ["auto"]:
        return _automatic(parts, scope)
    if scope == "web":
        names = [name for name in names if name != "corpus"] or ["auto"]
    if names == ["auto"]:
        return _automatic(parts, scope)
    if scope == "both" and "corpus" not in names:
        names = ["corpus", *names]
    return _named(parts, names)


def _names(wanted: str) -> list[str]:
    names = list(dict.fromkeys(name.strip().lower() for name in wanted.split(",") if name.strip())) or ["auto"]
    for name in names:
        if name not in NAMES and name != "auto":
            close = nearest(name, list(NAMES))
            hint = f"Did you mean {close}?" if close else f"Engines: auto, {', '.join(NAMES)}."
            raise ConfigError(f"There is no search engine named {name[:40]!r} (search.backend).", hint)
    if "auto" in names and len(names) > 1:
        raise ConfigError("search.backend is auto together with names.", "Use auto alone, or name the engines.")
    return names


def _automatic(parts: _Parts, scope: str) -> SearchBackend:
    if parts.corpus is not None and scope == "auto":
        return parts.corpus
    local = [Engine(parts.corpus, _BOTH)] if parts.corpus is not None and scope == "both" else []
    if parts.searxng_url:
        web = [_engine(parts, "searxng", _BOTH)]
    else:
        keyed = [name for name in ("brave", "tavily") if _key(parts, name)]
        web = [_engine(parts, name, _WEB) for name in ("ddgs", *keyed, "wikipedia")]
    academic = [_engine(parts, name, _ACADEMIC) for name in ACADEMIC]
    # With a corpus beside the web, both are always asked; without, the next web engine only where one fails.
    at_once = {"web": 1 + len(local), "academic": _ACADEMIC_AT_ONCE + len(local)}
    return Searcher([*local, *web, *academic], at_once=at_once, blocked_domains=parts.settings.blocked_domains)


def _named(parts: _Parts, names: list[str]) -> SearchBackend:
    if names == ["corpus"] and parts.corpus is not None:
        return parts.corpus
    engines = [_engine(parts, name, _BOTH) for name in names]
    at_once = {"web": len(engines), "academic": len(engines)}
    return Searcher(engines, at_once=at_once, blocked_domains=parts.settings.blocked_domains)


def _engine(parts: _Parts, name: str, profiles: frozenset[str]) -> Engine:
    return Engine(_MAKERS[name](parts), profiles, _INTERVALS.get(name, 0.0))


def _key(parts: _Parts, name: str) -> str:
    secret = {"brave": parts.settings.brave_api_key, "tavily": parts.settings.tavily_api_key}[name]
    return secret.get_secret_value()


def _needed_key(parts: _Parts, name: str) -> str:
    key = _key(parts, name)
    if not key:
        raise ConfigError(f"The engine {name} needs a key.", f"Set DEEPDELVE_SEARCH__{name.upper()}_API_KEY.")
    return key


def _corpus(parts: _Parts) -> SearchBackend:
    if parts.corpus is None:
        raise ConfigError("search.backend names the corpus, but there is none.", "Give one with --corpus.")
    return parts.corpus


def _searxng(parts: _Parts) -> SearchBackend:
    from deepdelve.tools.search.searxng import Searxng
    from deepdelve.tools.searxng import SearxngClient

    if not parts.searxng_url:
        raise ConfigError("The address of SearXNG is not set.", "Set search.searxng_url or SEARXNG_URL.")
    return Searxng(SearxngClient(parts.searxng_url, parts.factory() if parts.factory else None))


def _ddgs(parts: _Parts) -> SearchBackend:
    from deepdelve.tools.search.ddgs import Ddgs

    return Ddgs(parts.client())


def _wikipedia(parts: _Parts) -> SearchBackend:
    from deepdelve.tools.search.wikipedia import Wikipedia

    return Wikipedia(parts.client(), contact_email=parts.settings.contact_email)


def _arxiv(parts: _Parts) -> SearchBackend:
    from deepdelve.tools.search.arxiv import Arxiv

    return Arxiv(parts.client())


def _openalex(parts: _Parts) -> SearchBackend:
    from deepdelve.tools.search.openalex import OpenAlex

    return OpenAlex(parts.client(), contact_email=parts.settings.contact_email)


def _crossref(parts: _Parts) -> SearchBackend:
    from deepdelve.tools.search.crossref import Crossref

    return Crossref(parts.client(), contact_email=parts.settings.contact_email)


def _semantic_scholar(parts: _Parts) -> SearchBackend:
    from deepdelve.tools.search.semantic_scholar import SemanticScholar

    return SemanticScholar(parts.client(), key=parts.settings.semantic_scholar_api_key.get_secret_value())


def _brave(parts: _Parts) -> SearchBackend:
    from deepdelve.tools.search.brave import Brave

    return Brave(parts.client(), key=_needed_key(parts, "brave"))


def _tavily(parts: _Parts) -> SearchBackend:
    from deepdelve.tools.search.tavily import Tavily

    return Tavily(parts.client(), key=_needed_key(parts, "tavily"))


_MAKERS: Mapping[str, Callable[[_Parts], SearchBackend]] = {
    "corpus": _corpus,
    "searxng": _searxng,
    "ddgs": _ddgs,
    "wikipedia": _wikipedia,
    "arxiv": _arxiv,
    "openalex": _openalex,
    "crossref": _crossref,
    "semantic_scholar": _semantic_scholar,
    "brave": _brave,
    "tavily": _tavily,
}
