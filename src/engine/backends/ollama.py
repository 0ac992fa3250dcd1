"""Ollama over its native interface: context, thinking and keep-alive are said with every call."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast
from weakref import WeakKeyDictionary

import httpx
from agent_framework import ChatResponseUpdate, Message
from agent_framework_ollama import OllamaChatClient
from ollama import AsyncClient

from deepdelve.config import Settings
from deepdelve.core.errors import BackendError
from deepdelve.core.records import Role
from deepdelve.engine.backends.address import is_local, server_url
from deepdelve.engine.backends.base import CONNECT_SECONDS, SPECIALISTS, Hooks, quiet_framework
from deepdelve.engine.backends.client import GuardedClient
from deepdelve.engine.backends.failures import Server, by_message, by_status, failure, no_tools, not_a_model_server
from deepdelve.engine.backends.lenient import load_object
from deepdelve.engine.backends.stream import Link

_SHOW_SECONDS = 10.0
_ERROR_CHARS = 20_000


@dataclass(frozen=True)
class ModelInfo:
    """What the server says of a model.

    Attributes:
        context: the longest context that it can be served with, in tokens; None if the server does not say.
        capabilities: such as ``tools`` and ``thinking``; None if the server is too old to say.
        family: its architecture, such as ``qwen35``.
        modelfile: its whole definition, where PARSER and RENDERER stand.
        parameters: size as text, such as ``8.2B``.
    """

    context: int | None = None
    capabilities: frozenset[str] | None = None
    family: str = ""
    modelfile: str = ""
    parameters: str = ""

    def can(self, capability: str) -> bool:
        """Whether it has a capability; one that says nothing is taken to have it."""
        return self.capabilities is None or capability in self.capabilities


class OllamaServer:
    """The plain HTTP side of one Ollama server; connections belong to the running event loop."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._pools: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    @property
    def http(self) -> httpx.AsyncClient:
        """The running loop's connections. A server of this machine is never asked through a proxy."""
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            limits = httpx.Timeout(None, connect=CONNECT_SECONDS)
            self._pools[loop] = httpx.AsyncClient(
                base_url=self.url, timeout=limits, trust_env=not is_local(self.url), verify=self.url.startswith("https")
            )
        return self._pools[loop]

    async def close(self) -> None:
        """Close the running loop's connections."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool:
            await pool.aclose()

    async def version(self, *, seconds: float = CONNECT_SECONDS) -> str:
        """The server's version.

        Raises:
            BackendError: it cannot be reached, or is no Ollama.
        """
        data = await self._json("GET", "/api/version", None, "", seconds)
        if not isinstance(data.get("version"), str):
            raise not_a_model_server(self._server(""), "something else than a version")
        return str(data["version"])

    async def tags(self, *, seconds: float = CONNECT_SECONDS) -> list[tuple[str, str]]:
        """Name and time of last change (ISO 8601) of every model, newest first.

        Raises:
            BackendError: it cannot be reached, or is no Ollama.
        """
        data = await self._json("GET", "/api/tags", None, "", seconds)
        models = cast("list[dict[str, Any]]", [m for m in cast("list[Any]", data.get("models") or []) if isinstance(m, dict)])
        named = [(str(m.get("name") or m.get("model") or ""), str(m.get("modified_at") or "")) for m in models]
        return sorted((pair for pair in named if pair[0]), key=lambda pair: pair[1], reverse=True)

    async def show(self, model: str, *, seconds: float = _SHOW_SECONDS) -> ModelInfo:
        """What the server says of a model.

        Raises:
            BackendError: the model is missing, or the server cannot be reached.
        """
        data = await self._json("POST", "/api/show", {"model": model}, model, seconds)
        info = cast("dict[str, Any]", data.get("model_info") or {})
        details = cast("dict[str, Any]", data.get("details") or {})
        context = next((v for k, v in info.items() if k.endswith(".context_length") and isinstance(v, int)), None)
        capabilities: Any = data.get("capabilities")
        return ModelInfo(
            context=context,
            capabilities=frozenset(str(c) for c in cast("list[Any]", capabilities)) if isinstance(capabilities, list) else None,
            family=str(info.get("general.architecture") or details.get("family") or ""),
            modelfile=str(data.get("modelfile") or ""),
            parameters=str(details.get("parameter_size") or ""),
        )

    async def chat(self, payload: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The parts of a streamed reply.

        Raises:
            BackendError: the server refuses, breaks off or speaks something else.
        """
        server = self._server(str(payload.get("model") or ""))
        async with self.http.stream("POST", "/api/chat", json=payload) as response:
            if response.status_code != 200:
                body = (await response.aread())[:_ERROR_CHARS].decode("utf-8", "replace")
                raise by_status(response.status_code, body, response.headers, server)
            _check_type(response, server)
            async for line in response.aiter_lines():
                if line.strip():
                    yield _part(line, server)

    async def _json(self, method: str, path: str, body: object, model: str, seconds: float) -> dict[str, Any]:
        server = self._server(model)
        try:
            async with asyncio.timeout(seconds):
                response = await self.http.request(method, path, json=body)
        except (httpx.HTTPError, TimeoutError, OSError) as error:
            raise failure(error, server) from error
        if response.status_code != 200:
            raise by_status(response.status_code, response.text[:_ERROR_CHARS], response.headers, server)
        _check_type(response, server)
        try:
            data: Any = response.json()
        except ValueError as error:
            raise not_a_model_server(server, "text that is not JSON") from error
        if not isinstance(data, dict):
            raise not_a_model_server(server, "JSON of another kind")
        return cast("dict[str, Any]", data)

    def _server(self, model: str) -> Server:
        return Server("ollama", self.url, model)


class _Wire:
    """Stands in for the SDK's client: the same call, but with lenient arguments and this package's errors."""

    def __init__(self, server: OllamaServer) -> None:
        self._server = server
        # The framework's client reads its server's address from here.
        self._client = SimpleNamespace(base_url=server.url)

    async def chat(self, *, stream: bool, messages: Sequence[Any], **options: Any) -> AsyncIterator[SimpleNamespace]:
        plain = [message.model_dump(exclude_none=True, warnings=False) for message in messages]
        for message in plain:
            if not message.get("thinking"):
                message.pop("thinking", None)
        return self._parts({"messages": plain, "stream": stream, **options})

    async def _parts(self, payload: Mapping[str, Any]) -> AsyncIterator[SimpleNamespace]:
        async for part in self._server.chat(payload):
            yield _as_response(part)


class OllamaClient(GuardedClient, OllamaChatClient[Any]):
    """The framework's Ollama client, guarded."""

    def __init__(self, role: Role, link: Link, factory: "OllamaFactory", server: OllamaServer, max_iterations: int) -> None:
        self.role, self.link = role, link
        self._factory, self._ollama = factory, server
        super().__init__(
            client=cast("AsyncClient", _Wire(server)),
            model=link.server.model,
            function_invocation_configuration={"max_iterations": max_iterations},
        )

    async def _provider_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        info = await self._factory.info(self.link, self._ollama)
        if options.get("tools") and not info.can("tools"):
            raise no_tools(self.link.server)
        window = min(info.context or self._factory.num_ctx, self._factory.num_ctx)
        self.link.traits.window = window
        thinking = self._factory.thinking and info.can("thinking")
        fixed = {"num_ctx": window, "think": thinking, "keep_alive": self._factory.keep_alive}
        loose: dict[str, Any] = {"temperature": self._factory.temperature}
        if options.get("max_tokens") is None:
            loose["num_predict"] = window
        return {**loose, **options, **fixed}

    def _provider_stream(self, messages: Sequence[Message], options: Mapping[str, Any]) -> AsyncGenerator[ChatResponseUpdate]:
        stream = OllamaChatClient[Any]._inner_get_response(self, messages=messages, options=options, stream=True)
        return cast("AsyncGenerator[ChatResponseUpdate]", stream)


class OllamaFactory:
    """Chat clients of one Ollama server, and of a second one for the specialists if the settings name it.

    Args:
        settings: model, host and how it is served.
        hooks: where to report.
        model: the model, if not the settings' own.
    """

    name = "ollama"

    def __init__(self, settings: Settings, hooks: Hooks | None = None, *, model: str = "") -> None:
        quiet_framework()
        api, run = settings.api, settings.settings
        self.model = model or api.ollama_model
        self.num_ctx, self.thinking, self.keep_alive, self.temperature = run.num_ctx, api.thinking, api.keep_alive, api.temperature
        self.hooks = hooks or Hooks()
        self._settings = settings
        self._servers: dict[str, OllamaServer] = {}
        self._links: dict[tuple[str, str], Link] = {}
        self._infos: dict[tuple[str, str], ModelInfo] = {}
        self.url = server_url(api.ollama_host, key="api.ollama_host")
        self._specialist_url = server_url(api.specialist_base_url, key="api.specialist_base_url") if api.specialist_base_url else self.url

    def client(self, role: Role, *, max_iterations: int) -> OllamaClient:
        """A fresh client for one dispatch of a role."""
        special = role in SPECIALISTS
        url = self._specialist_url if special else self.url
        model = (self._settings.api.specialist_model if special else "") or self.model
        return OllamaClient(role, self._link(url, model), self, self._server(url), max_iterations)

    async def close(self) -> None:
        """Close the running loop's connections."""
        for server in self._servers.values():
            await server.close()

    async def specialist(self, *, seconds: float = _SHOW_SECONDS) -> ModelInfo:
        """What the server of the roles that read sources says of their model.

        Raises:
            BackendError: the model is missing or cannot call tools, or the server cannot be reached.
        """
        url, model = self._specialist_url, self._settings.api.specialist_model or self.model
        link = self._link(url, model)
        info = await self.info(link, self._server(url), seconds=seconds)
        if not info.can("tools"):
            raise no_tools(link.server)
        return info

    async def info(self, link: Link, server: OllamaServer, *, seconds: float = _SHOW_SECONDS) -> ModelInfo:
        """What the server says of the link's model, asked once.

        Raises:
            BackendError: the model is missing, or the server cannot be reached.
        """
        key = link.server.url, link.server.model
        if key not in self._infos:
            try:
                self._infos[key] = await server.show(link.server.model, seconds=seconds)
            except BackendError as error:
                # A gateway that only passes chats on has no such page; the model itself may still be there.
                tolerable = error.cause in ("not_a_model_server", "bad_request", "server_error", "malformed")
                if not tolerable or "web page" in error.message:
                    raise
                self._infos[key] = ModelInfo()
        return self._infos[key]

    def _server(self, url: str) -> OllamaServer:
        return self._servers.setdefault(url, OllamaServer(url))

    def _link(self, url: str, model: str) -> Link:
        key = url, model
        if key not in self._links:
            self._links[key] = Link.of(Server("ollama", url, model), self.hooks, self._settings.settings)
        return self._links[key]


def _check_type(response: httpx.Response, server: Server) -> None:
    kind = response.headers.get("content-type", "")
    if "html" in kind:
        raise not_a_model_server(server, "a web page")


def _part(line: str, server: Server) -> dict[str, Any]:
    try:
        part: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        if line.lstrip().startswith("<"):
            raise not_a_model_server(server, "a web page") from error
        raise failure(error, server) from error
    if not isinstance(part, dict):
        raise not_a_model_server(server, "JSON of another kind")
    data = cast("dict[str, Any]", part)
    if data.get("error"):
        raise by_message(str(data["error"]), server)
    return data


def _as_response(part: Mapping[str, Any]) -> SimpleNamespace:
    """A part of a reply in the shape that the framework's client reads."""
    message = cast("dict[str, Any]", part.get("message") or {})
    return SimpleNamespace(
        model=part.get("model"),
        created_at=part.get("created_at"),
        done=bool(part.get("done")),
        done_reason=(part.get("done_reason") or "stop") if part.get("done") else None,
        prompt_eval_count=part.get("prompt_eval_count"),
        eval_count=part.get("eval_count"),
        message=SimpleNamespace(
            content=_text(message.get("content")),
            thinking=_text(message.get("thinking") or message.get("reasoning") or message.get("reasoning_content")),
            tool_calls=[_as_call(call) for call in cast("list[Any]", message.get("tool_calls") or [])],
        ),
    )


def _as_call(call: Any) -> SimpleNamespace:
    """A tool call whose arguments are a mapping, whatever the model made of them."""
    given = cast("dict[str, Any]", call) if isinstance(call, dict) else {}
    function = cast("dict[str, Any]", given.get("function") or {})
    arguments: Any = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = load_object(arguments)
        except ValueError:
            arguments = {"raw": arguments}
    elif isinstance(arguments, list):
        arguments = {"raw": cast("list[Any]", arguments)}
    return SimpleNamespace(function=SimpleNamespace(name=_text(function.get("name")), arguments=arguments or {}))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
