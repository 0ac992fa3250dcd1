"""Cost of the guard around the framework's chat clients: 10,000 text deltas over loopback, CPU time of the client's thread.

Run: PYTHONPATH=.typecheck:. python benchmarks/backends.py
"""

import asyncio
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from agent_framework import Message, tool
from agent_framework_ollama import OllamaChatClient
from agent_framework_openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI

from deepdelve.config import Settings
from deepdelve.engine.backends.base import quiet_framework
from deepdelve.engine.backends.ollama import OllamaFactory
from deepdelve.engine.backends.openai import OpenAIFactory
from tests.support.llm_server import LlmServer, Reply

DELTAS = 10_000
ROUNDS = 5
LIMIT = 1.3


@tool
async def web_search(query: str) -> str:
    """Search."""
    return query


def sentence_text() -> str:
    """Report-like text without repetition, five characters a delta: line breaks, citations, emphasis."""
    lines = (f"- Finding {n} of the *study* is {n * 7 % 1000} [S{n % 40}].\n" for n in range(DELTAS))
    return "".join(lines)[: DELTAS * 5]


async def cost(make: Callable[[], Any]) -> float:
    """CPU seconds of one streamed reply."""
    client = make()
    start = time.thread_time()
    size = 0
    async for update in client.get_response([Message("user", ["write"])], stream=True, options={"tools": [web_search]}):
        size += len(update.text)
    assert size == DELTAS * 5, size
    return time.thread_time() - start


async def compare(name: str, own: Callable[[], Any], guarded: Callable[[], Any]) -> float:
    """Print both costs of a protocol and give their ratio."""
    own_costs, guarded_costs = [], []
    for _ in range(ROUNDS):
        own_costs.append(await cost(own))
        guarded_costs.append(await cost(guarded))
    base, ours = statistics.median(own_costs), statistics.median(guarded_costs)
    per = 1e6 / DELTAS
    print(f"{name}: framework {base * per:.0f} µs a delta, guarded {ours * per:.0f} µs a delta, ratio {ours / base:.2f} (limit {LIMIT})")
    return ours / base


async def main() -> None:
    quiet_framework()
    reply = Reply(sentence_text(), piece=5)
    settings = Settings()
    settings.settings.num_ctx = 1_000_000
    settings.api.ollama_model = settings.api.openai_model = "m"
    with LlmServer([reply]) as server:
        settings.api.ollama_host, settings.api.openai_base_url = server.url, server.openai_url
        ollama, openai = OllamaFactory(settings), OpenAIFactory(settings)
        sdk = AsyncOpenAI(base_url=server.openai_url, api_key="x", max_retries=0)
        own = {
            "ollama": partial(OllamaChatClient, host=server.url, model="m"),
            "openai": partial(OpenAIChatCompletionClient, model="m", async_client=sdk),
        }
        ratios = [
            await compare("ollama", own["ollama"], lambda: ollama.client("Planner", max_iterations=1)),
            await compare("openai", own["openai"], lambda: openai.client("Planner", max_iterations=1)),
        ]
        await ollama.close()
        await openai.close()
        await sdk.close()
    print("within the limit" if max(ratios) <= LIMIT else "OVER THE LIMIT")


if __name__ == "__main__":
    asyncio.run(main())
