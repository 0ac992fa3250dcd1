"""The one check before research begins: go, or up to three short questions to the person. Nothing in it keeps a run from starting."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any, cast

from agent_framework import Message
from agent_framework.exceptions import AgentFrameworkException

from deepdelve.core.errors import BackendError
from deepdelve.engine.agents import BUILTIN
from deepdelve.engine.backends.lenient import first_value
from deepdelve.engine.context import RunContext
from deepdelve.engine.language import language_of
from deepdelve.engine.services import Services
from deepdelve.utils.run_state import RunState
from deepdelve.utils.words import is_content, one_line, word_set, words

MOST_QUESTIONS = 3
QUESTION_CHARS = 200
# A model that has not answered by then is not waited for: the research is what the person wants.
SECONDS = 30.0
_REPLY_CHARS = 20_000
# Longer questions say what they are about.
_SHORT = 300
_TEXT = "The answers become part of what is researched."
_POINTS = re.compile(r"\b(it|they|them|he|him|she|this|these|that|those)\b(?:\s+([^\W\d_]+))?", re.IGNORECASE)
_DETERMINERS = frozenset(("this", "these", "that", "those"))
_AUXILIARY = re.compile(r"\b(?:do|does|did|can|could|will|would|should|may|might|must)\s$", re.IGNORECASE)
# "What time is it?", "Is it raining?": the word stands for nothing.
_IMPERSONAL = word_set("time day date raining rain snowing snow cold warm hot late early")


async def intake(ctx: RunContext) -> None:
    """Ask the person what the question leaves open, once a run and before anything is looked up.

    Where nobody can be asked, the run goes on, and a question that names no subject is said to be taken as it stands.
    """
    run, services = ctx.run, ctx.services
    state = run.state
    if not services.settings.settings.intake or not _due(state):
        return
    if not services.asks_first:
        pointer = unnamed(state.question)
        if pointer:
            told = f"The question does not say what “{pointer}” stands for; it is researched as it stands."
            run.notice(told, level="warning", code="assumption")
        return
    options = await _open_questions(services, state)
    if options:
        await services.ask("intake", _TEXT, options)


def unnamed(question: str) -> str:
    """The words that point at something which an English question does not name ("it", "this method"); empty in any other."""
    if len(question) > _SHORT or language_of(question) != "English":
        return ""
    found = _POINTS.search(question)
    # A capital within the sentence makes a name of it: the film "It", the word IT.
    if found is None or not found.group(1)[1:].islower() or (found.start() and found.group(1)[0].isupper()):
        return ""
    pointed = _pointed(question, found)
    rest = [word for word in words(question[: found.start()] + question[found.start() + len(pointed) :]) if _says(word)]
    named = any(char.isdigit() for char in question) or re.search(r"\S\s+[^\W\d_]*[A-Z]", question) is not None
    return "" if named or len(rest) > 1 or _IMPERSONAL.intersection(rest) else pointed


def parsed(reply: str) -> tuple[str, ...]:
    """The questions of a model's reply, at most three; none where it says to go, or where it cannot be read."""
    found = first_value(reply[:_REPLY_CHARS])
    value: Any = found[0] if found is not None else None
    listed: Any = cast("dict[str, Any]", value).get("questions") if isinstance(value, dict) else value
    if not isinstance(listed, list):
        return ()
    asked = [_question(item) for item in cast("list[Any]", listed)[: 4 * MOST_QUESTIONS]]
    return tuple(dict.fromkeys(filter(None, asked)))[:MOST_QUESTIONS]


def _due(state: RunState) -> bool:
    """Whether the check is still to come: not where anything was done already, nor again after its answer."""
    if state.evidence_only or state.plan or state.tasks or state.sources:
        return False
    return state.processes < 2 if state.intake is None else not state.intake.answered


async def _open_questions(services: Services, state: RunState) -> dict[str, Any]:
    """What is asked, as the options of the card; empty to go. What an earlier process has asked in vain is asked again."""
    if state.intake is not None:
        return _options(state.intake.questions, state.intake.stands_for)
    if services.backend.name == BUILTIN:
        pointer = "" if state.seeds else unnamed(state.question)
        return _options((f"What does “{pointer}” stand for?",), pointer) if pointer else {}
    questions = await _asked_of_model(services, state)
    return _options(questions) if questions else {}


def _options(questions: Sequence[str], stands_for: str = "") -> dict[str, Any]:
    return {"questions": list(questions)} | ({"stands_for": stands_for} if stands_for else {})


async def _asked_of_model(services: Services, state: RunState) -> tuple[str, ...]:
    """The questions that the model has, from one call without tools; none if it fails or takes too long."""
    client: Any = services.backend.client("Planner", max_iterations=1)
    pieces: list[str] = []
    try:
        async with asyncio.timeout(SECONDS):
            async for update in client.get_response([Message("user", [_prompt(state)])], stream=True):
                if update.merge_mode == "replace":
                    # What came until now has turned out to be thinking.
                    pieces.clear()
                pieces.append(str(update.text or ""))
    except (BackendError, AgentFrameworkException, TimeoutError):
        return ()
    return parsed("".join(pieces))


def _prompt(state: RunState) -> str:
    given = f"\nDocuments that the person gave: {len(state.seeds)}." if state.seeds else ""
    return (
        "A person wants the question below researched. Say whether the research can begin, or what has to be asked first.\n"
        "Ask only what the person alone can know and what would change what is looked up: which of several things of that name is meant, "
        "which country or period, what for. Never ask what research can find out, nor how the report should look. "
        "Most questions need nothing: then go.\n"
        f"At most {MOST_QUESTIONS} questions of at most 15 words each, in the language of the person's question.\n"
        'Answer with JSON only: {"go": true} or {"questions": ["…"]}\n'
        f"Today is {state.date}.{given}\n\nQuestion: {state.question}"
    )


def _question(item: object) -> str:
    text = cast("dict[str, Any]", item).get("question", "") if isinstance(item, dict) else item
    return one_line(text, QUESTION_CHARS) if isinstance(text, str) and any(char.isalnum() for char in text) else ""


def _pointed(question: str, found: "re.Match[str]") -> str:
    """The pronoun, with its noun where it belongs to one ("this engine", but "does this work")."""
    following = (found.group(2) or "").lower()
    a_verb_follows = _AUXILIARY.search(question[: found.start()]) is not None
    return found.group(0) if found.group(1).lower() in _DETERMINERS and _says(following) and not a_verb_follows else found.group(1)


def _says(word: str) -> bool:
    return bool(word) and is_content(word)
