"""Events are frozen, survive the journal unchanged, and unknown ones are refused."""

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from deepdelve.core import events as ev
from deepdelve.core.events import DELTA_TYPES, AnyEvent, Event, parse_event
from deepdelve.core.records import Finding, PlanItem, Source, Task, Usage

ALL: tuple[type[Event], ...] = get_args(get_args(AnyEvent)[0])
SAMPLES: dict[str, Any] = {
    "run_id": "r",
    "question": "q?",
    "stage": "searching",
    "items": (PlanItem(name="a"),),
    "task": Task(name="t"),
    "role": "Searcher",
    "text": "日本\u2028\n\x00 é",
    "call_id": "c",
    "tool": "web_search",
    "rule": "quota",
    "reason": "used up",
    "query": "q",
    "backend": "corpus",
    "outcome": "ok",
    "source": Source(id="S1", url="u"),
    "source_id": "S1",
    "finding": Finding(id="F1", task="t", top_task="t"),
    "artifact": "findings",
    "file": "f",
    "problem": "no_urls",
    "ok": True,
    "attempt": 1,
    "usage": Usage(),
    "ask_id": "1",
    "kind": "tool",
    "exit": 0,
}


def sample(kind: type[Event]) -> Event:
    """An event of this kind with its required fields filled."""
    needed = {name: SAMPLES[name] for name, field in kind.model_fields.items() if field.is_required()}
    if kind is ev.DispatchStarted or kind is ev.DispatchEnded:
        needed["task"] = "t"
    if kind is ev.RunEnded:
        needed["outcome"] = "verified"
    return kind(seq=3, ts=1.5, dispatch="d", **needed)


@pytest.mark.parametrize("kind", ALL)
def test_an_event_survives_the_journal(kind: type[Event]) -> None:
    event = sample(kind)
    line = event.model_dump_json()
    assert "\n" not in line
    assert parse_event(line) == event
    assert parse_event(line.encode()) == event


@pytest.mark.parametrize("kind", ALL)
def test_an_event_cannot_be_changed(kind: type[Event]) -> None:
    with pytest.raises(ValidationError):
        sample(kind).seq = 4


def test_every_event_of_the_module_can_be_parsed() -> None:
    made = {kind for kind in vars(ev).values() if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event}
    assert made == set(ALL)


def test_types_are_unique_and_follow_the_name() -> None:
    types = [kind.model_fields["type"].default for kind in ALL]
    assert len(set(types)) == len(types)
    for kind, name in zip(ALL, types, strict=True):
        assert name.replace("_", "") == kind.__name__.lower()


def test_deltas_are_events_that_exist() -> None:
    assert {kind.model_fields["type"].default for kind in ALL} >= DELTA_TYPES


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{}",
        "[]",
        '{"type":"run_startled","run_id":"r","question":"q"}',
        '{"type":"notice"}',
        '{"type":"notice","text":"x","extra":1}',
        '{"type":"notice","text":"x","level":"loud"}',
        '{"type":"notice","text":"cut',
    ],
)
def test_a_line_that_is_no_event_is_refused(line: str) -> None:
    with pytest.raises(ValidationError):
        parse_event(line)
