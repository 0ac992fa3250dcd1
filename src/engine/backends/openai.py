"""Any server that speaks the OpenAI protocol: hosted providers, llama.cpp, vLLM, LM Studio and their kin."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from agent_framework import ChatResponseUpdate, Content, Message
from agent_framework_openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, OpenAIError
from openai import Timeout as OpenAITimeout

from deepdelve.config import Settings
from deepdelve.core.errors import BackendError, ConfigError
from deepdelve.core.records import Role
from deepdelve.engine.backends.address import is_local, server_url
from deepdelve.engine.backends.base import CONNECT_SECONDS, SPECIALISTS, Hooks, quiet_framework
from deepdelve.engine.backends.client import GuardedClient
from deepdelve.engine.backends.failures import Server, by_message, failure, not_a_model_server
from deepdelve.engine.backends.stream import Link
from deepdelve.engine.backends.switches import Fields, find_key, reasons, takes_new_limit, thinking_off

if TYPE_CHECKING:
    import httpx2

_ERROR_CHARS = 20_000
_NO_KEY = "not-needed"
_SWITCH = re.compile(r"think|reason|effort|template|extra|unrecogni|unknown|unsupported|unexpected|not permitted", re.IGNORECASE)
_SCHEMA = re.compile(r"response_format|json_schema|schema|grammar", re.IGNORECASE)


class OpenAIServer:
    """One server and the key for it; connections belong to the running event loop."""

    def __init__(self, url: str, find: Callable[[], str]) -> None:
        self.url = url
        self._find = find
        self._key: str | None = None
        self._pools: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = WeakKeyDictionary()

    async def key(self) -> str:
        """The key, looked for once."""
        if self._key is None:
            self._key = await asyncio.to_thread(self._find)
        return self._key

    @property
    def sdk(self) -> AsyncOpenAI:
        """The running loop's SDK client: no retries of its own, no limit but on connecting."""
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            limits = OpenAITimeout(None, connect=CONNECT_SECONDS)
            hooks: dict[str, list[Callable[..., Awaitable[None]]]] = {"response": [self._check]}
            secure = self.url.startswith("https")
            http = DefaultAsyncHttpxClient(
                event_hooks=hooks, timeout=limits, trust_env=not is_local(self.url), verify=secure, follow_redirects=False
            )
            self._pools[loop] = AsyncOpenAI(base_url=self.url, api_key=self._sdk_key, timeout=limits, max_retries=0, http_client=http)
        return self._pools[loop]

    async def models(self, *, seconds: float = CONNECT_SECONDS) -> list[str]:
        """Ids of the models on offer.

        Raises:
            BackendError: it cannot be reached, refuses the key, or is no model server.
        """
        server = Server("openai", self.url, "")
        try:
            async with asyncio.timeout(seconds):
                page = await self.sdk.models.list()
                return [model.id for model in page.data or [] if model.id]
        except (OpenAIError, TimeoutError, OSError, ValueError, AttributeError) as error:
            raise failure(error, server) from error

    async def listed(self, *, seconds: float = CONNECT_SECONDS) -> list[str]:
        """As ``models``; a gateway that lists nothing may have a model all the same, and gives an empty list."""
        try:
            return await self.models(seconds=seconds)
        except BackendError as error:
            if error.cause not in ("not_a_model_server", "bad_request") or "web page" in error.message:
                raise
            return []

    async def close(self) -> None:
        """Close the running loop's connections."""
        sdk = self._pools.pop(asyncio.get_running_loop(), None)
        if sdk:
            await sdk.close()

    async def _sdk_key(self) -> str:
        return await self.key() or _NO_KEY

    async def _check(self, response: "httpx2.Response") -> None:
        """Refuse a success that is no model's answer, before the SDK reads nothing from it without a word."""
        if response.status_code != 200:
            return
        server = Server("openai", self.url, "")
        kind = response.headers.get("content-type", "")
        if "html" in kind:
            raise not_a_model_server(server, "a web page")
        if "json" in kind and response.request.url.path.endswith("/chat/completions"):
            body = (await response.aread())[:_ERROR_CHARS].decode("utf-8", "replace")
            if '"error"' in body:
                raise by_message(body, server)
            raise not_a_model_server(server, "a whole reply where a stream was asked for")


class OpenAIClient(GuardedClient, OpenAIChatCompletionClient[Any]):
    """The framework's client for chat completions, guarded."""

    def __init__(self, role: Role, link: Link, factory: "OpenAIFactory", server: OpenAIServer, max_iterations: int) -> None:
        self.role, self.link = role, link
        self._factory = factory
        super().__init__(  # pyright: ignore[reportUnknownMemberType]  # an Azure overload without types
            model=link.server.model,
            async_client=server.sdk,
            response_parser=_without_reasoning,
            function_invocation_configuration={"max_iterations": max_iterations},
        )

    async def _provider_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        url, model = self.link.server.url, self.link.server.model
        prepared = dict(options)
        extra = dict(self._factory.switch(self.link))
        if takes_new_limit(url) and reasons(model):
            prepared.pop("temperature", None)
        elif prepared.get("temperature") is None:
            prepared["temperature"] = self._factory.temperature
        if not takes_new_limit(url) and prepared.get("max_tokens") is not None:
            # Servers of one's own read the old name of the limit only.
            extra["max_tokens"] = prepared.pop("max_tokens")
        if self._factory.plain_json(self.link):
            prepared.pop("response_format", None)
        if extra:
            prepared["extra_body"] = {**extra, **(prepared.get("extra_body") or {})}
        return prepared

    def _provider_stream(self, messages: Sequence[Message], options: Mapping[str, Any]) -> AsyncGenerator[ChatResponseUpdate]:
        stream = OpenAIChatCompletionClient[Any]._inner_get_response(self, messages=messages, options=options, stream=True)
        return cast("AsyncGenerator[ChatResponseUpdate]", stream)

    def _second_try(self, error: BackendError) -> bool:
        return self._factory.give_way(self.link, error)


class OpenAIFactory:
    """Chat clients of one server, and of a second one for the specialists if the settings name it.

    Args:
        settings: model, address and key.
        hooks: where to report.
        model: the model, if not the settings' own.

    Raises:
        ConfigError: no address is set, or it is none.
    """

    name = "openai"

    def __init__(self, settings: Settings, hooks: Hooks | None = None, *, model: str = "") -> None:
        quiet_framework()
        api = settings.api
        if not api.openai_base_url:
            raise ConfigError("No address of a model server is set.", "Set api.openai_base_url, such as http://127.0.0.1:8080/v1.")
        self.model = model or api.openai_model
        if not self.model:
            raise ConfigError("No model is set for the OpenAI backend.", "Set api.openai_model to one that the server lists.")
        self.temperature, self.thinking = api.temperature, api.thinking
        self.hooks = hooks or Hooks()
        self._settings = settings
        self.url = server_url(api.openai_base_url, key="api.openai_base_url")
        self._specialist_url = server_url(api.specialist_base_url, key="api.specialist_base_url") if api.specialist_base_url else self.url
        self._servers: dict[str, OpenAIServer] = {}
        self._links: dict[tuple[str, str], Link] = {}
        self._refused: dict[tuple[str, str], int] = {}
        self._plain_json: set[tuple[str, str]] = set()

    def client(self, role: Role, *, max_iterations: int) -> OpenAIClient:
        """A fresh client for one dispatch of a role. Needs a running event loop."""
        special = role in SPECIALISTS
        url = self._specialist_url if special else self.url
        model = (self._settings.api.specialist_model if special else "") or self.model
        return OpenAIClient(role, self._link(url, model), self, self.server(url), max_iterations)

    async def close(self) -> None:
        """Close the running loop's connections."""
        for server in self._servers.values():
            await server.close()

    async def specialist(self, *, seconds: float = CONNECT_SECONDS) -> None:
        """Whether the server of the roles that read sources answers.

        Raises:
            BackendError: it cannot be reached, refuses the key, or is no model server.
        """
        await self.server(self._specialist_url).listed(seconds=seconds)

    def server(self, url: str = "") -> OpenAIServer:
        """The server at an address, by default the settings' own."""
        where = url or self.url
        if where not in self._servers:
            self._servers[where] = OpenAIServer(where, lambda: find_key(self._settings, where))
        return self._servers[where]

    def switch(self, link: Link) -> Fields:
        """The request fields that switch thinking off there, as far as the server takes them."""
        if self.thinking:
            return {}
        fields = thinking_off(link.server.url, link.server.model)
        at = self._refused.get(_key(link), 0)
        return fields[at] if at < len(fields) else {}

    def plain_json(self, link: Link) -> bool:
        """Whether the server refuses schemas for its answers."""
        return _key(link) in self._plain_json

    def give_way(self, link: Link, error: BackendError) -> bool:
        """Whether a refused request should be sent again without what the server does not know."""
        if error.cause not in ("bad_request", "server_error"):
            return False
        said = error.message.lower()
        fields = self.switch(link)
        words = {word for key in fields for word in (key.lower(), "thinking", "reasoning", "effort")}
        if (
            fields
            and error.cause == "bad_request"
            and any(word in said for word in (*words, "extra", "unrecognized", "unknown", "unsupported"))
        ):
            self._refused[_key(link)] = self._refused.get(_key(link), 0) + 1
            return True
        if _SCHEMA.search(said) and not self.plain_json(link):
            self._plain_json.add(_key(link))
            return True
        return False

    def _link(self, url: str, model: str) -> Link:
        key = url, model
        if key not in self._links:
            self._links[key] = Link.of(Server("openai", url, model), self.hooks, self._settings.settings)
        return self._links[key]


def _key(link: Link) -> tuple[str, str]:
    return link.server.url, link.server.model


def _without_reasoning(message: Any, contents: Sequence[Content]) -> list[Content]:
    """Drop opaque reasoning, and turn plain reasoning into a kind of content that never becomes text or history."""
    kept = [content for content in contents if content.type != "text_reasoning"]
    for name in ("reasoning_content", "reasoning"):
        text = getattr(message, name, None)
        if isinstance(text, str) and text:
            return [Content.from_text_reasoning(text=text, merge_mode="append"), *kept]
    return kept
