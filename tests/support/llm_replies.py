"""What the fake model server says: replies, requests as it saw them, and every fault it can be asked for."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

REPEATED = "the same words again and again, "
HUGE_CHARS = 1_000_000


@dataclass(frozen=True)
class Call:
    """A tool call; ``args`` may be text, for calls that are broken."""

    name: str
    args: Any = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """One reply and how it is delivered.

    ``fault`` names a fault of the server itself (see ``SERVER_FAULTS``). ``delay`` is seconds between deltas of ``piece``
    characters. ``evaluated`` is the share of the sent tokens that the server says it read.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    finish: str = ""
    fault: str = ""
    piece: int = 24
    delay: float = 0.0
    evaluated: float = 1.0


@dataclass(frozen=True)
class Seen:
    """A request as it arrived. ``turn`` counts the role's chat requests from 0; ``at`` is seconds since the start."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    role: str = ""
    turn: int = -1
    at: float = 0.0

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages") or [])

    @property
    def system(self) -> str:
        return "\n".join(str(m.get("content") or "") for m in self.messages if m.get("role") == "system")

    @property
    def last(self) -> str:
        return str(self.messages[-1].get("content") or "") if self.messages else ""

    @property
    def tools(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools") or []]

    @property
    def chars(self) -> int:
        return len(json.dumps(self.messages)) + len(json.dumps(self.body.get("tools") or []))


Rule = Callable[[Seen], Reply | str]
Change = Callable[[Reply, Seen], Reply]


def _first(reply: Reply, seen: Seen) -> Call:
    """The reply's first call, or a plausible one for the first tool on offer."""
    if reply.calls:
        return reply.calls[0]
    name = seen.tools[0] if seen.tools else "web_search"
    return Call(name, {"query": "x"})


def _as_text(wrap: Callable[[Call], str]) -> Change:
    return lambda reply, seen: replace(reply, text=(reply.text + "\n" if reply.text else "") + wrap(_first(reply, seen)), calls=())


def _each(change: Callable[[Call], Call]) -> Change:
    return lambda reply, seen: replace(reply, calls=tuple(change(call) for call in reply.calls or (_first(reply, seen),)))


def _object(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.args})


def _bad_escape(call: Call) -> Call:
    return replace(call, args=json.dumps(call.args)[:-1] + ', "note": "C:\\path \\d+"}')


def _outside(reply: Reply, seen: Seen) -> Reply:
    """Set the first enumerated argument of each call to something far outside."""
    schemas = {t["function"]["name"]: t["function"]["parameters"] for t in seen.body.get("tools") or []}
    calls = []
    for call in reply.calls or (_first(reply, seen),):
        properties = schemas.get(call.name, {}).get("properties", {})
        name = next((key for key, schema in properties.items() if "enum" in json.dumps(schema)), "action")
        calls.append(replace(call, args={**call.args, name: "conquer_the_world"}))
    return replace(reply, calls=tuple(calls))


def _halved(value: Any) -> Any:
    """The first half of an emoji behind every text that names nothing."""
    if isinstance(value, dict):
        return {key: inner if key in {"name", "url"} else _halved(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_halved(inner) for inner in value]
    return value + " \ud83d" if isinstance(value, str) else value


def _tagged(call: Call) -> str:
    return f"<tool_call>\n{_object(call)}\n</tool_call>"


def _function_tag(call: Call) -> str:
    parameters = "".join(f"<parameter={k}>\n{v if isinstance(v, str) else json.dumps(v)}\n</parameter>\n" for k, v in call.args.items())
    return f"<function={call.name}>\n{parameters}</function>"


def _harmony(call: Call) -> str:
    return f"<|channel|>commentary to=functions.{call.name} <|constrain|>json<|message|>{json.dumps(call.args)}<|call|>"


# Faults of the model: what it says is wrong.
MODEL_FAULTS: dict[str, Change] = {
    "prose": lambda r, s: replace(r, text="I would now search for that, and then read what I find.", calls=()),
    "call_as_json": _as_text(_object),
    "call_in_fence": _as_text(lambda c: f"```json\n{_object(c)}\n```"),
    "call_in_tag": _as_text(_tagged),
    "call_in_function_tag": _as_text(_function_tag),
    "call_in_mistral_tag": _as_text(lambda c: f"[TOOL_CALLS][{_object(c)}]"),
    "call_in_channel": _as_text(_harmony),
    "near_name": _each(lambda c: replace(c, name=c.name.replace("_", "-").title())),
    "unknown_name": _each(lambda c: replace(c, name="summon_dragon")),
    "outside_enum": _outside,
    "broken_json": _each(lambda c: replace(c, args=json.dumps(c.args)[:-2] + '": "cut off')),
    "missing_bracket": _each(lambda c: replace(c, args=json.dumps(c.args)[:-1])),
    "args_as_string": _each(lambda c: replace(c, args=json.dumps(json.dumps(c.args)))),
    "args_nested": _each(lambda c: replace(c, args={"arguments": c.args})),
    "bad_escape": _each(_bad_escape),
    "thinking_closed": lambda r, s: replace(r, text=f"<think>Let me see. <b>Hm</b>.</think>\n\n{r.text}"),
    "thinking_unclosed": lambda r, s: replace(r, text=f"{r.text}<think>Let me see, this never ends", calls=r.calls),
    "thinking_only_closed": lambda r, s: replace(r, text=f"Let me see. I am thinking.</think>\n\n{r.text}"),
    "thinking_field": lambda r, s: replace(r, thinking="Let me see. I am thinking."),
    "only_thinking": lambda r, s: replace(r, thinking="Let me see. I am thinking.", text="", calls=()),
    "channel_in_name": _each(lambda c: replace(c, name=f"{c.name}<|channel|>commentary")),
    "channel_text": lambda r, s: replace(
        r, text=f"<|channel|>analysis<|message|>I am thinking.<|end|><|start|>assistant<|channel|>final<|message|>{r.text}<|return|>"
    ),
    "half_character": lambda r, s: replace(
        r, text=_halved(r.text) if r.text else "", calls=tuple(replace(c, args=_halved(c.args)) for c in r.calls)
    ),
    "empty": lambda r, s: replace(r, text="", calls=(), thinking=""),
    "repetition": lambda r, s: replace(r, text=REPEATED * 3_000, calls=(), piece=200),
    "length": lambda r, s: replace(r, finish="length", calls=(), text=(r.text or "A reply that is cut in the mid")[:-1]),
    "cut_context": lambda r, s: replace(r, evaluated=0.3),
    "huge": lambda r, s: replace(
        r, text="".join(f"Sentence number {n} of a long answer. " for n in range(HUGE_CHARS // 35)), calls=(), piece=4_000
    ),
    "wrong_language": lambda r, s: replace(r, text="Dette er et helt annet språk enn spørsmålet.", calls=()),
}

# Faults of the server: what it does is wrong. ``llm_server`` carries them out.
SERVER_FAULTS = (
    "http_500",
    "http_503",
    "http_429",
    "http_429_wait",
    "no_tools",
    "model_missing",
    "unauthorized",
    "html",
    "stall_first",
    "stall_stream",
    "slow_drip",
    "cut_stream",
    "no_done",
    "broken_line",
    "error_in_stream",
    "repeat_limit",
)
FAULTS = (*MODEL_FAULTS, *SERVER_FAULTS)


def faulty(reply: Reply, seen: Seen, fault: str) -> Reply:
    """The reply as the fault makes it."""
    if fault in MODEL_FAULTS:
        return MODEL_FAULTS[fault](reply, seen)
    if fault not in SERVER_FAULTS:
        raise ValueError(f"no such fault: {fault}")
    return replace(reply, fault=fault)
