"""What the tests of backends share: a factory at the fake server, a log of what it reports, and one run of an agent."""

import time
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_framework import Agent, tool

from deepdelve.config import Settings
from deepdelve.core.errors import BackendError
from deepdelve.core.records import Usage
from deepdelve.engine.backends.base import Hooks
from deepdelve.engine.backends.ollama import OllamaFactory
from deepdelve.engine.backends.openai import OpenAIFactory
from tests.support.llm_server import LlmServer

PROTOCOLS = ("ollama", "openai")
PROMPT = "Role: Planner\nYou plan."


@tool
async def web_search(query: str, profile: Literal["web", "academic"] = "web") -> str:
    """Search."""
    return f"{profile} results for {query}"


@tool
async def think(thought: str) -> str:
    """Think."""
    return "Noted."


@tool
async def choose_action(action: Literal["search", "stop"]) -> str:
    """Choose what to do next."""
    return f"doing {action}"


@dataclass
class Log:
    """What a backend reported."""

    usage: list[tuple[str, Usage, bool]] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    deadline: float | None = None

    def give(self, seconds: float) -> None:
        """From now on the dispatch has so many seconds."""
        self.deadline = time.monotonic() + seconds

    @property
    def hooks(self) -> Hooks:
        return Hooks(
            on_usage=lambda role, usage, truncated: self.usage.append((role, usage, truncated)),
            on_thinking=lambda role, text: self.thoughts.append(text),
            on_notice=lambda role, text: self.notices.append(text),
            time_left=lambda: None if self.deadline is None else self.deadline - time.monotonic(),
        )


def settings_for(server: LlmServer | None = None, *, idle: float = 10.0, **api: Any) -> Settings:
    """Settings that point both backends at a server. ``idle`` is the longest silence within a reply."""
    settings = Settings()
    settings.api.ollama_model = settings.api.openai_model = "m"
    if server:
        settings.api.ollama_host, settings.api.openai_base_url = server.url, server.openai_url
    settings.settings.idle_seconds = idle
    for key, value in api.items():
        setattr(settings.api, key, value)
    return settings


def factory_for(protocol: str, settings: Settings, log: Log | None = None) -> Any:
    make = OllamaFactory if protocol == "ollama" else OpenAIFactory
    return make(settings, (log or Log()).hooks)


async def ask(
    client: Any, *, stream: bool = True, tools: Any = (web_search, think), prompt: str = PROMPT, text: str = "Q?", **options: Any
) -> str:
    """One run of an agent on the client; its text, as a listener that obeys replacements would have it."""
    agent = Agent(client, PROMPT, tools=list(tools))
    if not stream:
        return (await agent.run(text, options=options or None)).text
    answer = agent.run(text, stream=True, options=options or None)
    async for _ in answer:
        pass
    return (await answer.get_final_response()).text


async def failure_of(client: Any, **kwargs: Any) -> BackendError:
    """The error that ends a run."""
    try:
        answer = await ask(client, **kwargs)
    except BackendError as error:
        return error
    raise AssertionError(f"the run gave an answer: {answer[:200]!r}")
