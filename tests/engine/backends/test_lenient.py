"""JSON as small models write it is read as what it plainly means, and nothing is guessed."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.engine.backends.lenient import MAX_CHARS, Brackets, first_value, load_object, loads
from tests.support.patience import in_proportion

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_valid_json_is_read_as_it_is(value):
    assert loads(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ("{'a': 'b'}", {"a": "b"}),
        ("{'a': 'it\\'s'}", {"a": "it's"}),
        ("{'a': 'say \"hi\"'}", {"a": 'say "hi"'}),
        ('{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}),
        ("{a: 1, b_c: 'x'}", {"a": 1, "b_c": "x"}),
        ('{"a": 1e5, "b": -2.5E-3, "c": None}', {"a": 1e5, "b": -2.5e-3, "c": None}),
        ("{“a”: “b”}", {"a": "b"}),
        ('{"a": "C:\\path \\d+"}', {"a": "C:\\path \\d+"}),
        ('{"a": "\\u00e9 \\u12"}', {"a": "é \\u12"}),
        ('{"a": "one\ntwo\tthree"}', {"a": "one\ntwo\tthree"}),
        ('{"a": "he said "yes" and left"}', {"a": 'he said "yes" and left'}),
        ('{"a": 1 // a number\n}', {"a": 1}),
        ('{"a": /* here */ 1}', {"a": 1}),
        ('{"a": {"b": [1, 2', {"a": {"b": [1, 2]}}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": 1}} and so on', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('{"a": "http://x.test/y#z"}', {"a": "http://x.test/y#z"}),
        ('{u: "http://x.test/y"}', {"u": "http://x.test/y"}),
    ],
)
def test_what_is_plainly_meant_is_read(text, value):
    assert load_object(text) == value


def test_json_within_a_json_string_is_opened_once():
    assert load_object(json.dumps('{"a": 1}')) == {"a": 1}
    with pytest.raises(ValueError, match="not a JSON object"):
        load_object(json.dumps(json.dumps('{"a": 1}')))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": "cut off in the mid', "does not end"),
        ("", "not valid JSON"),
        ("plain words", "not valid JSON"),
        ('{"a" "b"}', "not valid JSON"),
        ("[" * 10_000, "nested too deeply"),
        ('{"a":' * 10_000, "nested too deeply|not valid"),
        ("[1, 2]", "not a JSON object"),
        ("x" * (MAX_CHARS + 1), "longer than"),
    ],
)
def test_what_is_not_plain_is_refused_with_the_reason(text, reason):
    with pytest.raises(ValueError, match=reason):
        load_object(text)


@given(st.text(alphabet="{}[]\"',:\\ ab1\n/*#", max_size=60))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(ValueError):
        loads(text)


HOSTILE = {
    "objects": '{"a":' * 60_000,
    "single quotes": "{'" * 100_000,
    "backslashes": '"\\' * 100_000,
    "lists": "[1," * 60_000,
    "quotes": '{"a": "' + '" ' * 100_000,
    "comments": "/*" * 100_000,
    "closers": "}" * 200_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_costs_linear_time(kind):
    def read(text):
        with contextlib.suppress(ValueError):
            load_object(text)

    in_proportion(read, HOSTILE[kind])


def test_the_first_value_of_a_text_is_found_with_its_place():
    text = 'Here: {"a": "}"} and [1]'
    value, start, end = first_value(text) or (None, 0, 0)
    assert value == {"a": "}"}
    assert text[start:end] == '{"a": "}"}'
    assert first_value("no value") is None
    assert first_value('{"a": "never') is None


@given(st.integers(1, 9))
def test_brackets_are_matched_however_the_text_is_cut(size):
    text = '{"a": "\\"}{\\\\", "b": [{"c": "("}]} tail'
    brackets, at, end = Brackets(), 0, -1
    for stop in range(size, len(text) + size, size):
        if end < 0:
            end = brackets.feed(text[:stop], at)
            at = min(stop, len(text))
    assert text[:end] == '{"a": "\\"}{\\\\", "b": [{"c": "("}]}'
