"""Which verifier checks a run's claims: words against words, or, where the settings ask for it, a chat model on what words leave open."""

import asyncio
from typing import Any

from agent_framework import Message

from deepdelve.config import Settings
from deepdelve.engine.backends.base import ChatFactory
from deepdelve.utils.grounding.support import LexicalVerifier, Verifier

# The phrases that tell a reader what checked the claims.
BY_WORDS = "checked_words"
BY_MODEL = "checked_model"
ASK_SECONDS = 120.0


def verifier_for(settings: Settings, backend: ChatFactory, nonce: str) -> tuple[Verifier, str]:
    """The verifier, and the phrase that says what it goes by. To be called in the run's event loop; it is used from worker threads."""
    if settings.settings.judge != "model" or backend.name == "builtin":
        return LexicalVerifier(), BY_WORDS
    from deepdelve.engine.backends.judge import ModelJudge

    loop = asyncio.get_running_loop()

    def ask(prompt: str) -> str:
        return asyncio.run_coroutine_threadsafe(_answer(backend, prompt), loop).result()

    return ModelJudge(ask, nonce), BY_MODEL


async def _answer(backend: ChatFactory, prompt: str) -> str:
    """One question to the model, without tools. What the backend raises reaches the judge, which then does without the model."""
    client: Any = backend.client("PeerReviewer", max_iterations=1)
    async with asyncio.timeout(ASK_SECONDS):
        response = await client.get_response([Message("user", [prompt])])
    return str(response.text or "")
