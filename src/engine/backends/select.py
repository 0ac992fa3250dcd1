"""Which backend answers: the configured one, else a local Ollama, else the one that needs no model. Known within 3 s."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Generic, Never, Protocol, TypeVar, runtime_checkable

from deepdelve.config import Settings
from deepdelve.core.errors import BackendError, ConfigError
from deepdelve.engine.backends.address import server_url
from deepdelve.engine.backends.base import ChatFactory, Hooks
from deepdelve.engine.backends.failures import Server, no_tools

if TYPE_CHECKING:
    from deepdelve.engine.backends.ollama import OllamaServer

# Together these stay under the 3 s within which a person is told.
PROBE_SECONDS = 1.5
SHOW_SECONDS = 1.2
_LEAST_SECONDS = 0.3
_MODELS_LOOKED_AT = 12
_DAY = 86_400
_PULL = "Run: ollama pull qwen3:8b"


Builtin = TypeVar("Builtin", covariant=True)
Made = TypeVar("Made")


@dataclass(frozen=True)
class Choice(Generic[Builtin]):
    """The backend of a run, and the one line that says which and why. ``Builtin`` is what stands for no model."""

    factory: ChatFactory | Builtin
    line: str


@runtime_checkable
class _Specialised(Protocol):
    """A factory of clients that may ask another model for some roles."""

    async def specialist(self, *, seconds: float) -> object:
        """Hold the specialist against its server; ``BackendError`` where it is not there."""
        ...

    async def close(self) -> None:
        """Part of ``ChatFactory``."""
        ...


async def choose(settings: Settings, *, builtin: Callable[[], Made], hooks: Hooks | None = None, now: float | None = None) -> Choice[Made]:
    """The backend that the settings ask for, or (``auto``) the best that is there.

    Args:
        settings: what is asked for.
        builtin: makes what answers where there is no model.
        hooks: where the chosen backend reports.
        now: POSIX seconds, for the age of a model; None takes the clock.

    Raises:
        BackendError: a backend that was asked for, or a model that was configured, is not there.
        ConfigError: an address or a model is missing or wrong.
    """
    started = time.monotonic()
    choice = await _choose(settings, builtin, hooks, time.time() if now is None else now)
    if isinstance(choice.factory, _Specialised) and (settings.api.specialist_model or settings.api.specialist_base_url):
        await _check_specialist(choice.factory, max(_LEAST_SECONDS, PROBE_SECONDS + SHOW_SECONDS - (time.monotonic() - started)))
    return choice


async def _choose(settings: Settings, builtin: Callable[[], Made], hooks: Hooks | None, when: float) -> Choice[Made]:
    api = settings.api
    if api.backend == "builtin":
        return Choice(builtin(), "The built-in backend is used: no model, it selects and quotes.")
    if api.backend == "openai" or (api.backend == "auto" and api.openai_base_url):
        return await _openai(settings, hooks)
    if api.backend == "ollama" or api.ollama_model:
        return await _ollama(settings, hooks, when)
    try:
        return await _ollama(settings, hooks, when)
    except BackendError as error:
        return Choice(builtin(), f"The built-in backend is used (no model, it selects and quotes): {error.line()}")


async def _check_specialist(factory: _Specialised, seconds: float) -> None:
    """Hold the settings' specialist against its server.

    Raises:
        BackendError: it is not there.
    """
    try:
        await factory.specialist(seconds=seconds)
    except BackendError as error:
        await factory.close()
        remedy = (
            error.remedy
            if error.remedy.startswith("Run: ")
            else "Set api.specialist_model and api.specialist_base_url to one that is there."
        )
        raise BackendError(f"The specialist is not there: {error.message}", remedy, cause=error.cause) from error


async def _openai(settings: Settings, hooks: Hooks | None) -> Choice[Never]:
    from deepdelve.engine.backends.openai import OpenAIFactory, OpenAIServer
    from deepdelve.engine.backends.switches import find_key, key_help

    api = settings.api
    model = api.openai_model
    if not api.openai_base_url:
        raise ConfigError("No address of a model server is set.", "Set api.openai_base_url, such as http://127.0.0.1:8080/v1.")
    url = server_url(api.openai_base_url, key="api.openai_base_url")
    probe = OpenAIServer(url, lambda: find_key(settings, url))
    seconds = PROBE_SECONDS + SHOW_SECONDS
    try:
        listed = await (probe.listed(seconds=seconds) if model else probe.models(seconds=seconds))
    except BackendError as error:
        if error.cause == "unauthorized":
            raise BackendError(error.message, key_help(url), cause="unauthorized") from error
        raise
    finally:
        await probe.close()
    if not model and len(listed) != 1:
        names = f" It lists {', '.join(listed[:5])}{' and more' if len(listed) > 5 else ''}." if listed else ""
        raise ConfigError(f"No model is set for the server at {url}.{names}", "Set api.openai_model to one of them.")
    model = model or listed[0]
    return Choice(OpenAIFactory(settings, hooks, model=model), f"The model is {model} at {url}.")


async def _ollama(settings: Settings, hooks: Hooks | None, now: float) -> Choice[Never]:
    from deepdelve.engine.backends.ollama import OllamaFactory, OllamaServer

    api = settings.api
    url = server_url(api.ollama_host, key="api.ollama_host")
    server = OllamaServer(url)
    try:
        if api.ollama_model:
            info = await server.show(api.ollama_model, seconds=PROBE_SECONDS + SHOW_SECONDS)
            if not info.can("tools"):
                raise no_tools(Server("ollama", url, api.ollama_model))
            return Choice(OllamaFactory(settings, hooks), f"The model is {api.ollama_model} on Ollama at {url}.")
        tagged = await server.tags(seconds=PROBE_SECONDS)
        able = await _able(server, [name for name, _ in tagged])
    finally:
        await server.close()
    if not able:
        what = "has no model that can call tools" if tagged else "has no model"
        raise BackendError(f"Ollama at {url} {what}.", _PULL, cause="no_tools" if tagged else "model_missing")
    model = able[0]
    line = f"The model is {model} on Ollama at {url}, the newest of {len(able)} that can call tools{_age(dict(tagged)[model], now)}."
    return Choice(OllamaFactory(settings, hooks, model=model), line)


async def _able(server: "OllamaServer", names: Sequence[str]) -> list[str]:
    """Those of the newest models that can call tools, in the given order."""
    looked_at = [name for name in names if "embed" not in name.lower()][:_MODELS_LOOKED_AT]
    shown = await asyncio.gather(*(server.show(name, seconds=SHOW_SECONDS) for name in looked_at), return_exceptions=True)
    return [name for name, info in zip(looked_at, shown, strict=True) if not isinstance(info, BaseException) and info.can("tools")]


def _age(modified: str, now: float) -> str:
    try:
        days = int((now - datetime.fromisoformat(modified).timestamp()) / _DAY)
    except ValueError:
        return ""
    return f" ({days} days old)" if days > 1 else ""
