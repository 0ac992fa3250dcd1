"""Half characters never leave the backend: joined where they belong together, replaced where they stand alone."""

import json

import pytest
from agent_framework import tool
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.engine.backends.characters import PieceJoiner, whole_text, whole_value
from tests.engine.backends.kit import PROTOCOLS, ask, factory_for, settings_for
from tests.support.llm_server import Call, LlmServer, Reply

SMILE = "\U0001f600"
HALVES = st.lists(st.sampled_from(["a", "é", "\ud83d", "\ude00", SMILE]), max_size=12).map("".join)


def test_halves_that_belong_together_are_joined_and_lone_ones_replaced():
    assert whole_text("\ud83d\ude00 and \ud83d") == f"{SMILE} and \ufffd"
    assert whole_value({"a\ud83d": ["\ude00", 1, None, {"b": "c"}]}) == {"a\ufffd": ["\ufffd", 1, None, {"b": "c"}]}


@given(HALVES)
def test_every_text_can_be_written_afterwards_and_whole_text_stays(text):
    mended = whole_text(text)
    assert mended.encode().decode() == mended
    assert whole_text(mended) == mended


@given(st.lists(HALVES, max_size=8))
def test_pieces_give_what_the_whole_would_but_for_a_half_at_the_very_end(pieces):
    joiner = PieceJoiner()
    text = "".join(pieces)
    ended = text[:-1] if "\ud800" <= text[-1:] <= "\udbff" else text
    assert "".join(joiner.feed(piece) for piece in pieces) == whole_text(ended)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_model_that_cuts_an_emoji_costs_neither_the_call_nor_the_answer(protocol):
    seen = []

    @tool
    async def note(text: str) -> str:
        """Note."""
        seen.append(text)
        return "Noted."

    script = [Reply(calls=(Call("note", {"text": "half \ud83d"}),)), Reply(f"All {SMILE} well \ude00.", piece=1)]
    with LlmServer({"": script}) as server:
        factory = factory_for(protocol, settings_for(server))
        answer = await ask(factory.client("Planner", max_iterations=4), tools=(note,))
        await factory.close()
    assert seen == ["half \ufffd"]
    assert answer == f"All {SMILE} well \ufffd."
    json.dumps(answer).encode()
