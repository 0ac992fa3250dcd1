"""A person in the loop: tools are asked about as the settings say, the answer decides, and no clock goes on meanwhile."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import ConfigError
from deepdelve.engine import budget
from tests.support.whole_run import RIVERS, RecordingSurface, good_rules, start_scripted, write_corpus


class Person(RecordingSurface):
    """Answers in turn; the last answer for ever. ``after`` is done before each answer."""

    def __init__(self, *answers, after=None):
        super().__init__()
        self.answers, self.after = list(answers), after

    async def ask(self, asked):
        self.asked.append(asked)
        if self.after is not None:
            await self.after()
        decision = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return {"decision": decision} if isinstance(decision, str) else decision


async def run_with(tmp_path, person, *, auto=False, settings=None, **approvals):
    chosen = settings or Settings()
    chosen.settings.approvals = approvals
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    going = await start_scripted(good_rules(), corpus, person, settings=chosen, approve_all=auto)
    return await going.task, going.run


async def test_a_tool_that_is_asked_about_goes_on_when_the_person_allows_it(tmp_path):
    person = Person("allow")
    result, _ = await run_with(tmp_path, person, fetch_url_to_workspace="ask")
    assert result.outcome == "verified"
    assert len(person.asked) == 2
    assert {asked.options["tool"] for asked in person.asked} == {"fetch_url_to_workspace"}
    assert all(asked.options["args"]["url"].startswith("corpus://") for asked in person.asked)


async def test_question_and_answer_are_journaled_in_pairs(tmp_path):
    person = Person("allow")
    await run_with(tmp_path, person, web_search="ask")
    asked, answered = person.of(ev.Asked), person.of(ev.Answered)
    assert {event.ask_id for event in asked} == {event.ask_id for event in answered}
    assert all(event.seq for event in [*asked, *answered])


async def test_an_answer_for_the_whole_session_is_asked_for_once(tmp_path):
    person = Person("always")
    settings = Settings()
    settings.settings.concurrency = 1
    result, _ = await run_with(tmp_path, person, settings=settings, web_search="ask")
    assert result.outcome == "verified"
    assert len(person.asked) == 1


async def test_questions_come_one_after_the_other_and_always_answers_those_that_wait(tmp_path):
    open_now, most = 0, 0

    async def think_it_over():
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        await asyncio.sleep(0.05)
        open_now -= 1

    person = Person("always", after=think_it_over)
    result, _ = await run_with(tmp_path, person, fetch_url_to_workspace="ask")
    assert (result.outcome, len(person.asked), most) == ("verified", 1, 1)


@pytest.mark.parametrize("answer", ["deny", {}, {"decision": "perhaps"}])
async def test_what_is_not_a_yes_is_a_no_and_the_run_ends_honestly(tmp_path, answer):
    person = Person(answer)
    result, run = await run_with(tmp_path, person, fetch_url_to_workspace="ask")
    assert (result.outcome, result.exit) == ("no_evidence", 3)
    assert run.state.sources == {}
    assert {event.rule for event in person.of(ev.ToolRefused)} == {"approval"}


async def test_a_tool_that_the_settings_deny_is_never_asked_about(tmp_path):
    person = Person("allow")
    result, run = await run_with(tmp_path, person, fetch_url_to_workspace="deny")
    assert person.asked == []
    assert "denied by the settings" in person.of(ev.ToolRefused)[0].reason
    assert (result.outcome, run.state.sources) == ("no_evidence", {})


async def test_a_headless_run_asks_nobody_and_still_obeys_a_denial(tmp_path):
    person = Person("deny")
    result, _ = await run_with(tmp_path, person, auto=True, fetch_url_to_workspace="ask")
    assert (result.outcome, person.asked) == ("verified", [])
    person = Person("allow")
    result, _ = await run_with(tmp_path / "again", person, auto=True, fetch_url_to_workspace="deny")
    assert result.outcome == "no_evidence"


async def test_all_clocks_stand_still_while_a_person_thinks(tmp_path, monkeypatch):
    """The person thinks for an hour of a clock that the test sets, in a run of ten minutes whose dispatches have five."""
    settings = Settings()
    settings.settings.max_run_minutes = 10
    settings.settings.dispatch_minutes = 5
    ahead = 0.0
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + ahead))
    # Deadlines are the loop's: they see the hour too.
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: time.monotonic() + ahead)

    async def thinks():
        nonlocal ahead
        await asyncio.sleep(0.1)
        ahead = 3_600.0
        await asyncio.sleep(0.1)

    person = Person("allow", after=thinks)
    result, run = await run_with(tmp_path, person, settings=settings, web_search="ask")
    assert result.outcome == "verified"
    assert run.clock.paused_total >= 3_600.0
    assert result.seconds < 600.0
    assert all(event.seconds < 300.0 for event in person.of(ev.DispatchEnded))


async def test_a_stop_while_a_person_is_asked_ends_the_run_at_once(tmp_path):
    asked = asyncio.Event()

    async def never():
        asked.set()
        await asyncio.Event().wait()

    settings = Settings()
    settings.settings.approvals = {"web_search": "ask"}
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    going = await start_scripted(good_rules(), corpus, Person("allow", after=never), settings=settings, approve_all=False)
    await asked.wait()
    going.stop()
    result = await asyncio.wait_for(going.task, 60)
    assert (result.outcome, result.exit) == ("stopped", 130)


async def test_a_rule_about_a_tool_that_is_not_there_is_refused_before_the_run(tmp_path):
    with pytest.raises(ConfigError, match="names no tool: websearch") as caught:
        await run_with(tmp_path, Person("allow"), websearch="deny")
    assert "Did you mean web_search?" in caught.value.line()
    assert not list(tmp_path.rglob("journal.jsonl"))
