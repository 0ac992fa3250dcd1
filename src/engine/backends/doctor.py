"""Whether this machine is fit for research: server, model, its abilities, search, disk and terminal, each with its remedy."""

import asyncio
import json
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from deepdelve.config import Settings, home
from deepdelve.core.errors import BackendError, DeepDelveError
from deepdelve.core.records import Role, Usage
from deepdelve.engine.backends.base import ChatFactory, Hooks
from deepdelve.engine.backends.lenient import load_object
from deepdelve.engine.backends.select import Choice, choose
from deepdelve.utils.files import write_text_atomic

if TYPE_CHECKING:
    from deepdelve.engine.backends.ollama import ModelInfo
    from deepdelve.engine.backends.openai import OpenAIFactory

TRIAL_SECONDS = 120.0
# With these no run can be: they are told before there is one.
FATAL = frozenset({"no_tools", "model_missing", "unauthorized", "not_a_model_server"})
# A server this quick is no bottleneck, and too quick to time.
_INSTANT_SECONDS = 0.5
_FRESH_SECONDS = 7 * 86_400
_SLOW_TOKENS_PER_SECOND = 5.0
# Families whose tool calls Ollama can only read where the model names a parser and a renderer.
_NEEDS_PARSER = re.compile(r"qwen-?3\.?[56]|qwen3[56]", re.IGNORECASE)
_FILLER = "The harbour of the old town was built of grey stone, and ships have lain in it for many hundred years. "
# No tokenizer packs more characters of the filler into a token.
_MOST_CHARS_PER_TOKEN = 5.8
_OTHER_MODEL = "Choose a model that is made for tool calls, such as qwen3."
_LARGER_MODEL = "Choose a larger model, or a server that can hold it to a schema."
_CAPITAL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        fix: a command or a setting; empty where nothing needs mending.
        cause: how a model server failed, where it did.
    """

    name: str
    ok: bool
    detail: str
    fix: str = ""
    cause: str = ""


SearchHealth = Callable[[], Awaitable[Finding]]
TerminalHealth = Callable[[], Finding]


async def doctor(
    settings: Settings,
    *,
    builtin: Callable[[], ChatFactory],
    search: SearchHealth | None = None,
    terminal: TerminalHealth | None = None,
    thorough: bool = True,
) -> list[Finding]:
    """Look at everything that a run needs.

    Args:
        settings: what is in force.
        builtin: makes the backend that needs no model.
        search: says how the search engines are.
        terminal: says what the terminal can do.
        thorough: also fill the model's context and call it twice at once, which takes a while on a slow machine.
    """
    findings = await _model(settings, builtin, thorough)
    if search:
        findings.append(await search())
    findings.append(await asyncio.to_thread(home_finding))
    if terminal:
        findings.append(terminal())
    return findings


async def preflight(settings: Settings, *, builtin: Callable[[], ChatFactory], model: str, now: float | None = None) -> list[Finding]:
    """The quick checks of a model, from the cache where they were all well within the last week.

    Args:
        settings: what is in force.
        builtin: makes the backend that needs no model.
        model: name of the chosen model.
        now: POSIX seconds; None takes the clock.
    """
    when = time.time() if now is None else now
    api = settings.api
    key = " ".join((api.ollama_host, api.openai_base_url, model, api.specialist_base_url, api.specialist_model)).strip()
    cached = await asyncio.to_thread(_read_cache)
    entry = cached.get(key)
    if isinstance(entry, dict):
        known = cast("dict[str, Any]", entry)
        if isinstance(known.get("at"), (int, float)) and 0 <= when - known["at"] < _FRESH_SECONDS:
            return [Finding(**finding) for finding in known.get("findings", [])]
    findings = await _model(settings, builtin, thorough=False)
    if all(finding.ok for finding in findings):
        cached[key] = {"at": when, "findings": [asdict(finding) for finding in findings]}
        await asyncio.to_thread(write_text_atomic, _cache_file(), json.dumps(cached))
    return findings


@dataclass
class _Trial:
    """A chosen backend under test, and what it reports while it is."""

    factory: ChatFactory
    used: list[Usage] = field(default_factory=list[Usage])
    thoughts: list[str] = field(default_factory=list[str])
    role: Role = "Planner"
    answered: int = 0

    async def ask(self, text: str, **options: Any) -> Any:
        """One reply of the model, tool calls not carried out."""
        from agent_framework import Message

        client = cast("Any", self.factory.client(self.role, max_iterations=1))
        client.function_invocation_configuration["enabled"] = False
        async with asyncio.timeout(TRIAL_SECONDS):
            reply = await client.get_response([Message("user", [text])], options={"temperature": 0.0, **options})
        self.answered += 1
        return reply


async def _model(settings: Settings, builtin: Callable[[], ChatFactory], thorough: bool) -> list[Finding]:
    used: list[Usage] = []
    thoughts: list[str] = []

    def on_usage(role: Role, usage: Usage, truncated: bool) -> None:
        del role, truncated
        used.append(usage)

    hooks = Hooks(on_usage=on_usage, on_thinking=lambda role, text: thoughts.append(text), time_left=lambda: TRIAL_SECONDS)
    try:
        choice = await choose(settings, builtin=builtin, hooks=hooks)
    except DeepDelveError as error:
        return [Finding("server", False, error.message, error.remedy)]
    trial = _Trial(choice.factory, used, thoughts)
    try:
        if choice.factory.name not in ("ollama", "openai"):
            return [Finding("server", True, choice.line)]
        tools = await _tool_call(trial)
        findings = [*await _server(choice, tools), tools, await _json(trial), _thinking(trial, settings), _speed(trial)]
        if thorough:
            findings += [await _context(trial, settings), await _parallel(trial, settings)]
        if settings.api.specialist_model or settings.api.specialist_base_url:
            findings += await _specialist(choice.factory, used, settings, thorough)
        return findings
    finally:
        await choice.factory.close()


async def _specialist(factory: ChatFactory, used: list[Usage], settings: Settings, thorough: bool) -> list[Finding]:
    """The model of the roles that read sources: what it is asked to do, and the context in which it reads."""
    from deepdelve.engine.backends.ollama import OllamaFactory

    trial = _Trial(factory, used, role="Searcher")
    findings = [await _tool_call(trial)]
    if isinstance(factory, OllamaFactory):
        findings += _template(settings.api.specialist_model or factory.model, await factory.specialist())
    if thorough and findings[0].ok:
        findings.append(await _context(trial, settings))
    return [replace(finding, name=f"specialist {finding.name}") for finding in findings]


async def _server(choice: Choice[ChatFactory], tools: Finding) -> list[Finding]:
    """What the server says of itself and of its models; ``tools`` is how the trial call went."""
    from deepdelve.engine.backends.ollama import OllamaFactory, OllamaServer
    from deepdelve.engine.backends.openai import OpenAIFactory

    factory, line = choice.factory, choice.line
    if isinstance(factory, OpenAIFactory):
        return [Finding("server", True, line), await _listed(factory, tools)]
    if not isinstance(factory, OllamaFactory):
        return [Finding("server", True, line)]
    server = OllamaServer(factory.url)
    try:
        version, info = await server.version(), await server.show(factory.model)
    except BackendError as error:
        return [Finding("server", False, error.message, error.remedy)]
    finally:
        await server.close()
    context = f", context up to {info.context:,} tokens" if info.context else ""
    found = [
        Finding("server", True, f"{line} Version {version}."),
        Finding("model", True, f"{factory.model}: {info.parameters or 'size unknown'}{context}."),
    ]
    return found + _template(factory.model, info)


def _template(model: str, info: "ModelInfo") -> list[Finding]:
    """Whether a model of a family that needs a parser and a renderer names them; nothing for other families."""
    if not _NEEDS_PARSER.search(f"{model} {info.family}"):
        return []
    has = all(re.search(rf"^{word}\s+\S", info.modelfile, re.MULTILINE) for word in ("PARSER", "RENDERER"))
    detail = "names a parser and a renderer" if has else "names no parser and renderer, so its tool calls come as text"
    return [Finding("template", has, f"{model} {detail}.", "" if has else f"Run: ollama pull {model}")]


async def _listed(factory: "OpenAIFactory", tools: Finding) -> Finding:
    """Whether the server lists the model; one that answers without being listed is there all the same."""
    try:
        names = await factory.server().models()
    except BackendError:
        names = []
    if factory.model in names:
        return Finding("model", True, f"{factory.model} is one of {len(names)} that the server lists.")
    if tools.ok or not names:
        return Finding("model", True, f"{factory.model} is not on the server's list, which need not be whole.")
    shown = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
    return Finding("model", False, f"{factory.model} is not on the server's list.", f"Set api.openai_model to one of: {shown}")


async def _tool_call(trial: _Trial) -> Finding:
    from agent_framework import tool

    async def note_city(city: str) -> str:
        """Note the name of a city."""
        return city

    try:
        reply = await trial.ask("Note the city of Paris with the tool.", tools=[tool(note_city)])
    except (DeepDelveError, TimeoutError) as error:
        return _failed("tools", error)
    calls = [content for message in reply.messages for content in message.contents if content.type == "function_call"]
    if calls:
        return Finding("tools", True, f"The model calls tools: {calls[0].name}({json.dumps(calls[0].arguments, ensure_ascii=False)[:80]}).")
    return Finding(
        "tools",
        False,
        "The model answered in prose where a tool was to be called.",
        "Choose a model that is made for tool calls, such as qwen3.",
    )


async def _json(trial: _Trial) -> Finding:
    try:
        reply = await trial.ask("Answer in JSON with one field, city: what is the capital of France?", response_format=_CAPITAL)
        city = str(load_object(str(reply.text)).get("city", ""))
    except (DeepDelveError, TimeoutError) as error:
        return _failed("json", error)
    except ValueError as error:
        return Finding(
            "json", False, f"The model was asked for JSON, and {error}.", "Choose a larger model, or a server that can hold it to a schema."
        )
    return Finding("json", True, f"The model answers in JSON: city is {json.dumps(city[:40], ensure_ascii=False)}.")


def _thinking(trial: _Trial, settings: Settings) -> Finding:
    chars = sum(len(thought) for thought in trial.thoughts)
    if not trial.answered and not chars:
        return Finding("thinking", False, "No reply came in which thinking would show.", "See the findings above.")
    if settings.api.thinking:
        what = f"{chars:,} characters of it in the trials" if chars else "but the model did not think in the trials"
        return Finding("thinking", True, f"Thinking is on: {what}.")
    if not chars:
        return Finding("thinking", True, "Thinking is off, and the model does not think.")
    detail = f"Thinking is off, but the model thought for {chars:,} characters all the same."
    return Finding("thinking", False, detail, "Take the model's instruct version, or switch thinking off in the server's chat template.")


def _speed(trial: _Trial) -> Finding:
    timed = [usage for usage in trial.used if usage.tokens_out and usage.seconds]
    if not timed:
        return Finding("speed", False, "No reply came that could be timed.", "See the findings above.")
    rate = sum(usage.tokens_out for usage in timed) / sum(usage.seconds for usage in timed)
    ok = rate >= _SLOW_TOKENS_PER_SECOND
    return Finding(
        "speed", ok, f"About {rate:.0f} tokens a second, waiting included.", "" if ok else "Choose a smaller model, or use --depth quick."
    )


async def _context(trial: _Trial, settings: Settings) -> Finding:
    """Send about three quarters of the context that the settings promise and compare with what was read."""
    wanted = settings.settings.num_ctx
    text = _FILLER * int(wanted * 3 / len(_FILLER))
    before = len(trial.used)
    try:
        await trial.ask(f"{text}\nAnswer with one word: what was the harbour built of?", max_tokens=64)
    except BackendError as error:
        if error.cause not in ("length", "empty"):
            return _failed("context", error)
    except TimeoutError as error:
        return _failed("context", error)
    usage = trial.used[before]
    sent = f"{usage.sent_chars:,} characters sent, {usage.tokens_in:,} tokens read"
    if usage.estimated:
        return Finding("context", False, "The server does not say how much it read, so a cut would go unseen.", "Update the server.")
    if usage.tokens_in < usage.sent_chars / _MOST_CHARS_PER_TOKEN:
        fix = f"Serve the model with a context of {wanted:,} tokens, or lower settings.num_ctx."
        return Finding("context", False, f"The server cut what it was sent: {sent}.", fix)
    return Finding("context", True, f"Nothing was cut: {sent}.")


async def _parallel(trial: _Trial, settings: Settings) -> Finding:
    """Whether two calls at once take clearly less than two calls in turn."""
    wanted = settings.settings.concurrency
    question = "Count from one to twenty in words."
    try:
        started = time.monotonic()
        await trial.ask(question, max_tokens=80)
        one = time.monotonic() - started
        await asyncio.gather(trial.ask(question, max_tokens=80), trial.ask(question, max_tokens=80))
        two = time.monotonic() - started - one
    except BackendError as error:
        return replace(_failed("parallel", error), ok=error.cause in ("length", "empty"))
    except TimeoutError as error:
        return _failed("parallel", error)
    ok = wanted == 1 or one < _INSTANT_SECONDS or two < 1.7 * one
    fix = "" if ok else f"Set OLLAMA_NUM_PARALLEL={wanted} (llama.cpp: --parallel {wanted}), or settings.concurrency to 1."
    return Finding("parallel", ok, f"Two replies at once take {two / max(one, 1e-9):.1f} times as long as one.", fix)


def home_finding() -> Finding:
    """Whether the folder in which everything is kept can be written."""
    folder = home()
    probe = folder / f".doctor-{uuid.uuid4().hex[:8]}"
    try:
        write_text_atomic(probe, "x")
        probe.unlink()
    except DeepDelveError as error:
        return Finding("home", False, error.message.replace(str(probe), str(folder)), error.remedy)
    return Finding("home", True, f"{folder} can be written.")


def _failed(name: str, error: BaseException) -> Finding:
    if isinstance(error, DeepDelveError):
        return Finding(name, False, error.message, error.remedy, error.cause if isinstance(error, BackendError) else "")
    return Finding(name, False, f"No reply came within {TRIAL_SECONDS:.0f} s.", "Choose a smaller model.")


def _cache_file() -> Any:
    return home() / "cache" / "doctor.json"


def _read_cache() -> dict[str, Any]:
    try:
        data: Any = json.loads(_cache_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return dict(cast("Mapping[str, Any]", data)) if isinstance(data, dict) else {}
