"""Thinking, channel tokens and printed tool calls never show, however the text is cut; everything else passes unchanged."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdelve.engine.backends.repair import ToolSpec, clean_name
from deepdelve.engine.backends.textfilter import TextFilter, clean
from tests.support.patience import in_proportion

TOOLS = [
    ToolSpec("web_search", {"properties": {"query": {"type": "string"}}, "required": ["query"]}),
    ToolSpec("think", {"properties": {"thought": {"type": "string"}}, "required": ["thought"]}),
]
OBJECT = '{"name": "web_search", "arguments": {"query": "cats"}}'
PRINTED = {
    "bare JSON": OBJECT,
    "JSON after words": f"I will search now: {OBJECT}",
    "a list": f"[{OBJECT}]",
    "a fence": f"```json\n{OBJECT}\n```",
    "a bare fence": f"```\n{OBJECT}\n```",
    "a tool fence": '```tool_code\nweb_search(query="cats")\n```',
    "a tag": f"<tool_call>\n{OBJECT}\n</tool_call>",
    "an open tag": f"<tool_call>{OBJECT}",
    "a tag in capitals": f"<TOOL_CALL>{OBJECT}</TOOL_CALL>",
    "a function tag": "<function=web_search>\n<parameter=query>\ncats\n</parameter>\n</function>",
    "a function tag with JSON": '<function=web_search>{"query": "cats"}</function>',
    "function within tool_call": "<tool_call>\n<function=web_search>\n<parameter=query>cats</parameter></function>\n</tool_call>",
    "invoke": '<function_calls><invoke name="web_search"><parameter name="query">cats</parameter></invoke></function_calls>',
    "key and value tags": "<tool_call>web_search\n<arg_key>query</arg_key>\n<arg_value>cats</arg_value>\n</tool_call>",
    "a mistral list": f"[TOOL_CALLS][{OBJECT}]",
    "a mistral name": '[TOOL_CALLS]web_search[ARGS]{"query": "cats"}',
    "a llama token": '<|python_tag|>{"name": "web_search", "parameters": {"query": "cats"}}<|eom_id|>',
    "a channel": '<|channel|>commentary to=functions.web_search <|constrain|>json<|message|>{"query": "cats"}<|call|>',
    "a channel with the tool first": "<|start|>assistant to=functions.web_search"
    '<|channel|>commentary json<|message|>{"query": "cats"}<|call|>',
    "a kimi section": "<|tool_calls_section_begin|><|tool_call_begin|>functions.web_search:0<|tool_call_argument_begin|>"
    '{"query": "cats"}<|tool_call_end|>',
    "a deepseek section": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>web_search"
    '\n```json\n{"query": "cats"}\n```<｜tool▁call▁end｜>',
    "a gemma token": '<|tool_call>call:web_search{query:<|"|>cats<|"|>}<tool_call|>',
    "an action": 'Action: web_search\nAction Input: {"query": "cats"}\nObservation: 12 cats',
    "an action in words": "Action: web_search\nAction Input: cats",
    "python": 'web_search(query="cats")',
    "the tool as key": '{"web_search": {"query": "cats"}}',
    "other words": '{"tool": "web_search", "args": {"query": "cats"}}',
    "the protocol's own shape": '{"tool_calls": ['
    '{"type": "function", "function": {"name": "web_search", "arguments": "{\\"query\\": \\"cats\\"}"}}]}',
    "arguments beside the name": '{"name": "web_search", "query": "cats"}',
}
THOUGHTS = {
    "a tag": "<think>{}</think>\n\n{}",
    "another tag": "<thinking>\n{}\n</thinking>{}",
    "a tag in capitals": "<THINK>{}</THINK>{}",
    "a bracket": "[THINK]{}[/THINK]{}",
    "a channel": "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    "a gemma channel": "<|channel>thought\n{}<channel|>{}",
}
PLAIN = (
    "A report [S1] on **harbours** <b>old</b> and 3 < 4 > 2.",
    'A set {a, b} and a [list](http://x.test) and `code` and ``` and {"a": 1}.',
    "```python\nprint({'a': [1]})\n```\nAfter.",
    '```json\n{"ok": true, "issues": []}\n```',
    '{"ok": true, "issues": [{"quote": "x", "problem": "y"}]}',
    '{"name": "Oslo", "facet": "cities"}',
    '[{"name": "web searching in libraries"}]',
    "think about it: (this) is no call\nthink (again)",
    "The word tool_call and the word think, and </b>.",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "Ends with <",
    "Ends with [",
    "Ends with ```",
    "Ends with {",
)


Result = tuple[str, list[tuple[str, object]], list[str], str, bool]


def run(text: str, size: int, *, hold: int = 0, tools: list[ToolSpec] = TOOLS) -> Result:
    """What is shown, the calls, the broken calls, the thoughts, and whether what was shown must be taken back."""
    thoughts: list[str] = []
    whole = TextFilter(tools, hold=hold, on_thought=thoughts.append)
    shown = "".join(whole.feed(text[at : at + size]) for at in range(0, len(text), size)) + whole.flush()
    calls = [(clean_name(call.name), call.args) for call in whole.calls]
    return shown, calls, whole.broken, "".join(thoughts), whole.retract


BITS = ("<think>x</think>", "\n", " ", "<|im_end|>", "word ", "<tool_call>", "```json\n", '"', "\\")
SIZES = (1, 2, 3, 5, 8, 13, 1000)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", PRINTED)
def test_a_printed_call_is_read_and_not_shown(kind, size):
    shown, calls, broken, _, _ = run(PRINTED[kind], size)
    assert len(calls) == 1
    name, args = calls[0]
    assert name == "web_search"
    assert args in ({"query": "cats"}, '{"query": "cats"}', "cats")
    assert shown.strip() in ("", "I will search now:")
    assert not broken


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", THOUGHTS)
def test_thinking_is_reported_and_not_shown(kind, size):
    shown, calls, _, thought, _ = run(THOUGHTS[kind].format('Hm, <b> or {"name": "web_search"}?', "The answer [S1]."), size)
    assert shown == "The answer [S1]."
    assert thought.strip() == 'Hm, <b> or {"name": "web_search"}?'
    assert not calls


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_passes_unchanged(text, size):
    assert run(text, size)[:3] == (text, [], [])


@pytest.mark.parametrize("size", SIZES)
def test_thinking_without_an_end_swallows_the_rest(size):
    assert run("Yes. <think>but then, and then", size)[0] == "Yes. "


@pytest.mark.parametrize("size", SIZES)
def test_a_closing_tag_alone_makes_thinking_of_all_before_it(size):
    text = "I wonder.</think>\n\nThe answer."
    shown, _, _, thought, _ = run(text, size, hold=1000)
    assert (shown, thought) == ("The answer.", "I wonder.")
    shown, _, _, _, retract = run(text, size)
    assert retract or shown == "The answer.", "what was already shown must be taken back"


def test_held_text_is_let_go_at_its_limit():
    held = TextFilter(TOOLS, hold=10)
    assert held.feed("12345") == ""
    assert held.held == "12345"
    assert held.feed("678901") == "12345678901"
    assert held.feed("more") == "more"


def test_a_tagged_call_that_cannot_be_read_is_kept_for_the_reason():
    shown, calls, broken, _, _ = run('Now <tool_call>{"name": "web_search", "arguments": {"query": "x</tool_call> then', 4)
    assert (shown, calls) == ("Now  then", [])
    assert len(broken) == 1


def test_without_tools_tags_still_go_and_json_stays():
    shown, _, _, _, _ = run(f"A <tool_call>{OBJECT}</tool_call> B {OBJECT}", 3, tools=[])
    assert shown == f"A  B {OBJECT}"


def test_several_calls_are_read_in_order():
    text = '[{"name": "web_search", "arguments": {"query": "a"}}, {"name": "think", "arguments": {"thought": "b"}}]'
    assert run(text, 7)[1] == [("web_search", {"query": "a"}), ("think", {"thought": "b"})]


def test_a_whole_text_can_be_cleaned():
    assert clean("I wonder.</think>The answer <|im_end|>") == "The answer "
    assert clean("<think>a</think>b", TOOLS) == "b"


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from([*PLAIN, *PRINTED.values(), *BITS]), max_size=5),
    st.integers(1, 40),
)
def test_a_text_gives_the_same_however_it_is_cut(parts, size):
    text = "".join(parts)
    assert run(text, size) == run(text, len(text) + 1)


HOSTILE = {
    "objects": '{"' * 30_000,
    "angles": "<" * 150_000,
    "tags": "<tool_call>" * 15_000,
    "brackets": "[" * 150_000,
    "fences": "```\n" * 40_000,
    "tokens": "<|" * 80_000,
    "keys": '{"a":' * 30_000,
    "lines": "\n" * 150_000,
    "lists": "[{" * 60_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("size", [5, 10**6])
def test_hostile_text_costs_linear_time(kind, size):
    in_proportion(lambda text: run(text, size), HOSTILE[kind][:40_000])
