"""The prompt: sending, new lines, history, completion, long pastes, the external editor."""

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key, Paste

from deepdelve.tui.completion import Choice, choose, context, files, ghost, score
from deepdelve.tui.history import PromptHistory
from deepdelve.tui.widgets.prompt import PASTE_LIMIT, Prompt

from .fake_engine import FakeEngine
from .support import Driven, driven

RUN = "20260101_000001_aaaaaa"


def labels(d: Driven) -> list[str]:
    return [choice.label for choice in d.app.research.query_one("PromptBox").popup.choices]  # type: ignore[attr-defined]


async def test_enter_sends_and_empties_the_prompt() -> None:
    async with driven() as d:
        await d.pilot.press(*"Why?", "enter")
        await d.finished()
        assert d.engine.requests[0].question == "Why?"
        assert d.app.research.prompt.text == ""


async def test_keys_are_taken_in_the_order_in_which_they_were_typed() -> None:
    engine = FakeEngine()
    engine.hold_at = "CheckVerdict"
    async with driven(engine) as d:
        for key in (*"Why", "enter", *"more", "enter", *"rest"):
            d.app.post_message(Key(key, key if len(key) == 1 else None))
        await d.until(lambda: engine.handles and engine.handles[0].commands)
        assert engine.requests[0].question == "Why"
        assert engine.handles[0].commands[0].text == "more"
        await d.until(lambda: d.app.research.prompt.text == "rest")
        d.app.controller.stop()
        await d.finished()


async def test_an_empty_prompt_sends_nothing() -> None:
    async with driven() as d:
        await d.pilot.press("enter", "space", "enter")
        await d.settle()
        assert not d.engine.requests


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter"])
async def test_new_lines(key: str) -> None:
    async with driven() as d:
        await d.pilot.press("a", key, "b")
        assert d.app.research.prompt.text == "a\nb"


async def test_up_and_down_go_through_earlier_prompts() -> None:
    engine = FakeEngine()
    engine.saved(RUN, "An old question?")
    async with driven(engine) as d:
        prompt = d.app.research.prompt
        await d.say("/depth")
        prompt.put("draft")
        await d.pilot.press("up")
        assert prompt.text == "/depth"
        await d.pilot.press("escape", "up")
        assert prompt.text == "An old question?"
        await d.pilot.press("down")
        await d.pilot.press("escape", "down")
        assert prompt.text == "draft"


async def test_up_inside_a_text_moves_the_cursor() -> None:
    async with driven() as d:
        prompt = d.app.research.prompt
        prompt.put("one\ntwo")
        await d.pilot.press("up")
        assert (prompt.text, prompt.cursor_location[0]) == ("one\ntwo", 0)


async def test_slash_offers_commands_and_tab_takes_one() -> None:
    async with driven() as d:
        await d.pilot.press("slash", "s", "t", "y")
        assert labels(d)[0] == "/style"
        assert d.app.research.prompt.suggestion == "le"
        await d.pilot.press("tab")
        assert d.app.research.prompt.text == "/style "


async def test_arguments_are_completed_too() -> None:
    async with driven() as d:
        d.app.research.prompt.put("/style ")
        await d.until(lambda: labels(d) == ["standard", "academic", "answer"])
        await d.pilot.press("down", "tab")
        await d.settle()
        assert d.app.research.prompt.text == "/style academic"
        await d.until(lambda: not labels(d))


async def test_runs_are_completed() -> None:
    engine = FakeEngine()
    engine.saved(RUN)
    async with driven(engine) as d:
        d.app.research.prompt.put("/report aa")
        await d.until(lambda: labels(d) == [RUN])


async def test_up_and_down_choose_in_the_list_and_escape_closes_it() -> None:
    async with driven() as d:
        await d.pilot.press("slash")
        first = labels(d)
        await d.pilot.press("down", "down", "up", "tab")
        assert d.app.research.prompt.text == first[1] + " "
        d.app.research.prompt.put("/")
        await d.settle()
        await d.pilot.press("escape")
        assert labels(d) == []
        assert d.app.research.prompt.text == "/"


async def test_at_completes_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.md").write_text("n")
    monkeypatch.chdir(tmp_path)
    async with driven() as d:
        d.app.research.prompt.put("Read @no")
        await d.until(lambda: labels(d) == ["notes.md"])
        await d.pilot.press("tab")
        assert d.app.research.prompt.text == "Read @notes.md"


async def test_a_file_named_in_a_question_is_a_seed_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.md").write_text("n")
    monkeypatch.chdir(tmp_path)
    async with driven() as d:
        await d.say("Sum up @notes.md and @missing.md for me@example.org")
        await d.finished()
        assert d.engine.requests[0].seed_docs == (str(tmp_path / "notes.md"),)


async def test_a_short_paste_keeps_its_lines() -> None:
    async with driven() as d:
        await d.app.research.prompt.on_paste(Paste("one\r\ntwo\n\x1b[31mthree"))
        assert d.app.research.prompt.text == "one\ntwo\nthree"


async def test_a_paste_of_200_000_characters_is_one_token_and_is_sent_whole() -> None:
    async with driven() as d:
        prompt = d.app.research.prompt
        await prompt.on_paste(Paste("word " * 40_000))
        await d.pilot.press("x")
        assert prompt.text == "[paste 1: 200,000 characters]x"
        await d.pilot.press("enter")
        await d.finished()
        assert d.engine.requests[0].question == "word " * 40_000 + "x"
        assert len("word " * 40_000) > PASTE_LIMIT


async def test_ctrl_g_opens_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\nprintf "%s and more\\n" "$(cat "$1")" > "$1.new" && mv "$1.new" "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))

    @contextmanager
    def suspend() -> Any:
        yield

    async with driven() as d:
        monkeypatch.setattr(d.app, "suspend", suspend)
        d.app.research.prompt.put("begun")
        await d.pilot.press("ctrl+g")
        assert d.app.research.prompt.text == "begun and more"


async def test_the_editor_gets_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\nprintf "%s" "[$BRAVE_API_KEY][$EDITOR_OPTION]" > "$1"\n')
    script.chmod(0o755)
    for name, value in {"VISUAL": str(script), "BRAVE_API_KEY": "brave-secret", "EDITOR_OPTION": "wide"}.items():
        monkeypatch.setenv(name, value)
    async with driven() as d:
        monkeypatch.setattr(d.app, "suspend", nullcontext)
        await d.pilot.press("ctrl+g")
        assert d.app.research.prompt.text == "[][wide]"


async def test_an_editor_that_cannot_be_started_is_one_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven() as d:
        said: list[str] = []
        monkeypatch.setattr(d.app, "suspend", nullcontext)
        monkeypatch.setattr(Prompt, "notify", lambda self, text, **options: said.append(text))
        for command in ("/no/such/editor", 'vi "unclosed'):
            monkeypatch.setenv("VISUAL", command)
            await d.pilot.press("ctrl+g")
        assert said == ["The editor did not start (No such file or directory).", "The editor did not start (No closing quotation)."]


async def test_ctrl_g_without_an_editor_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with driven() as d:
        said: list[str] = []
        monkeypatch.setattr(Prompt, "notify", lambda self, text, **options: said.append(text))
        await d.pilot.press("ctrl+g")
        assert said == ["Set EDITOR to the editor you like, then press ctrl+g again."]


def test_history_keeps_the_draft_and_folds_repetitions() -> None:
    past = PromptHistory()
    past.add("a")
    past.add("a")
    past.add(" ")
    past.load(["older"])
    assert len(past) == 2
    assert [past.back("draft"), past.back(""), past.back("")] == ["a", "older", None]
    assert [past.forth(), past.forth(), past.forth()] == ["a", "draft", None]


@pytest.mark.parametrize(
    ("text", "kind", "typed", "start"),
    [("/st", "command", "st", 0), ("/style a", "argument", "a", 7), ("see @do", "file", "do", 5), ("a\n@x", "file", "x", 3)],
)
def test_what_can_be_completed(text: str, kind: str, typed: str, start: int) -> None:
    found = context(text)
    assert found is not None
    assert (found.kind, found.typed, found.start) == (kind, typed, start)


@pytest.mark.parametrize("text", ["", "plain", "a@b", "/x\ny", "@a b"])
def test_what_cannot(text: str) -> None:
    assert context(text) is None


def test_better_matches_come_first() -> None:
    words = [Choice(word, word) for word in ("resume-run", "runs", "prune", "xr-u-n", "zzz")]
    assert [choice.label for choice in choose("run", words)] == ["runs", "prune", "resume-run", "xr-u-n"]
    assert score("", "anything") > 0


def test_ghost_shows_the_rest_only_of_a_beginning() -> None:
    assert ghost("/st", Choice("/style", "/style")) == "yle"
    assert ghost("ty", Choice("/style", "/style")) == ""
    assert ghost("", Choice("/style", "/style")) == ""
    assert ghost("x", None) == ""


def test_files_lists_folders_first_and_hides_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.txt", ".secret", "abc.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "sub").mkdir()
    assert [choice.label for choice in files(f"{tmp_path}/")] == ["sub", "abc.txt", "b.txt"]
    assert [choice.insert for choice in files(f"{tmp_path}/a")] == [f"{tmp_path}/abc.txt"]
    assert [choice.label for choice in files(f"{tmp_path}/.")] == [".secret"]
    assert [choice.label for choice in files(f"{tmp_path}/", folders_only=True)] == ["sub"]
    assert files(f"{tmp_path}/none/") == []
