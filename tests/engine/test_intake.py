"""The check before research begins: asked once, of a person who is there; the answers are what is researched; nothing in it stops a run."""

import asyncio
import json

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError
from deepdelve.core.requests import Command, RunRequest
from deepdelve.engine import conduct, facade, intake, replay, resume, store
from deepdelve.engine.backends.record import check_same
from tests.engine.durable.support import choosing
from tests.engine.test_approvals import Person
from tests.support.scripted import text
from tests.support.whole_run import RIVERS, RIVERS_QUESTION, good_planner, good_rules, said, start_scripted, write_corpus

ALDER = ("Length of the Alder", "How long is the river Alder?")
ASKS = {"questions": ["Which country?", "Since when?"]}
CHECKED = "A person wants the question below researched."


class Asker(Person):
    """A person at a surface that puts questions before research begins."""

    takes_questions = True


def asking_planner(reply, seen=None):
    """A Planner that gives this reply (or does this) where it is asked what has to be asked first."""
    planned = good_planner(ALDER)

    def rule(messages, options):
        if said(messages).startswith(CHECKED):
            assert not options.get("tools")
            return text(reply) if isinstance(reply, str) else reply()
        if seen is not None:
            seen.append(said(messages))
        return planned(messages, options)

    return rule


async def run_with(tmp_path, person, reply, *, seen=None, settings=None, auto=False, **request):
    rules = {**good_rules(), "Planner": asking_planner(reply, seen)}
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    going = await start_scripted(rules, corpus, person, settings=settings, approve_all=auto, **request)
    return await asyncio.wait_for(going.task, 60), going


def checks(going):
    """How often the model was asked what has to be asked first."""
    return sum(call.role == "Planner" and call.messages[-1].text.startswith(CHECKED) for call in going.factory.calls)


# A model's questions


async def test_questions_are_put_before_anything_is_looked_up(tmp_path):
    person = Asker({"answers": ["Norway", "1990"]})
    result, _ = await run_with(tmp_path, person, json.dumps(ASKS))
    assert [asked.kind for asked in person.asked] == ["intake"]
    assert person.asked[0].options == ASKS
    kinds = [type(event) for event in person.events]
    assert kinds.index(ev.Answered) < min(kinds.index(ev.PlanWritten), kinds.index(ev.SearchDone))
    assert result.outcome == "verified"


async def test_the_answers_reach_every_agent_with_the_question(tmp_path):
    seen = []
    _, going = await run_with(tmp_path, Asker({"answers": ["Norway", "1990"]}), json.dumps(ASKS), seen=seen)
    pairs = (
        "The person was asked: Which country?\nThe person answered: Norway\nThe person was asked: Since when?\nThe person answered: 1990"
    )
    assert seen[0].startswith(f"Question: {RIVERS_QUESTION}\n{pairs}")
    firsts = {call.role: said(call.messages) for call in going.factory.calls if not said(call.messages).startswith(CHECKED)}
    assert set(firsts) == {"Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder", "PeerReviewer"}
    assert all(pairs in message for message in firsts.values())
    assert going.run.state.question == RIVERS_QUESTION


async def test_a_question_left_empty_is_no_answer(tmp_path):
    seen = []
    await run_with(tmp_path, Asker({"answers": ["", "1990"]}), json.dumps(ASKS), seen=seen)
    assert "Which country?" not in seen[0]
    assert "The person answered: 1990" in seen[0]


@pytest.mark.parametrize("answer", [{"answers": []}, {}, {"answers": "x"}, {"answers": [" ", ""]}])
async def test_a_person_who_skips_has_the_question_researched_as_it_stands(tmp_path, answer):
    seen = []
    result, going = await run_with(tmp_path, Asker(answer), json.dumps(ASKS), seen=seen)
    assert result.outcome == "verified"
    assert "The person" not in seen[0]
    assert going.run.state.intake.answered


async def test_a_clear_question_is_not_asked_about(tmp_path):
    person = Asker({"answers": ["x"]})
    result, going = await run_with(tmp_path, person, '{"go": true}')
    assert (result.outcome, person.asked, checks(going)) == ("verified", [], 1)


def hangs():
    async def never():
        await asyncio.Event().wait()

    return never()


def fails():
    raise BackendError("The server answered with status 500.", cause="server_error", retry_after=0)


@pytest.mark.parametrize("reply", [fails, hangs, "", "Go ahead!", '{"questions": "Which?"}', '[{"x": 1}]', "{" * 5_000])
async def test_a_check_that_fails_lets_the_run_go(tmp_path, monkeypatch, reply):
    monkeypatch.setattr(intake, "SECONDS", 0.05)
    person = Asker({"answers": ["x"]})
    result, _ = await run_with(tmp_path, person, reply)
    assert (result.outcome, person.asked) == ("verified", [])


@pytest.mark.parametrize(
    ("reply", "questions"),
    [
        ('{"questions": ["Which country?"]}', ("Which country?",)),
        ('Sure:\n```json\n{"questions": ["A?", "B?", "C?", "D?"]}\n```', ("A?", "B?", "C?")),
        ('["A?", "A?", {"question": "B?"}]', ("A?", "B?")),
        ('{"questions": [" ", "?!", 3, null, "A\\n<<<end x>>>?"]}', ("A ‹‹‹end x›››?",)),
        ('{"go": true, "questions": []}', ()),
        ('{"questions": ["' + "word " * 200 + '"]}', (("word " * 200)[: intake.QUESTION_CHARS - 1].rstrip() + "…",)),
        ("", ()),
    ],
)
def test_a_reply_is_read_leniently_and_within_bounds(reply, questions):
    assert intake.parsed(reply) == questions


# Where nobody is asked


@pytest.mark.parametrize(("person", "auto"), [(Person, False), (Asker, True)])
async def test_a_run_without_a_person_neither_asks_nor_calls_the_model_for_it(tmp_path, person, auto):
    there = person({"answers": ["x"]})
    result, going = await run_with(tmp_path, there, json.dumps(ASKS), auto=auto)
    assert (result.outcome, there.asked, checks(going)) == ("verified", [], 0)


async def test_the_setting_switches_it_off(tmp_path):
    settings = Settings()
    settings.settings.intake = False
    person = Asker({"answers": ["x"]})
    _, going = await run_with(tmp_path, person, json.dumps(ASKS), settings=settings)
    assert (person.asked, checks(going)) == ([], 0)


async def test_without_a_person_it_is_said_how_a_question_without_a_subject_is_taken(tmp_path):
    person = Person({"decision": "allow"})
    await run_with(tmp_path, person, "", question="How long is it?")
    told = [notice.text for notice in person.of(ev.Notice) if notice.code == "assumption"]
    assert told == ["The question does not say what “it” stands for; it is researched as it stands."]


# By rule


@pytest.mark.parametrize(
    ("question", "pointer"),
    [
        ("How long is it?", "it"),
        ("When was it built?", "it"),
        ("What is this engine?", "this engine"),
        ("What are those for?", "those"),
        ("Who is he?", "he"),
        ("Why does that happen?", "that"),
        ("How does this heat pump work in winter?", ""),
        ("What is IT?", ""),
        ("Who wrote It?", ""),
        ("What time is it?", ""),
        ("Is it raining?", ""),
        ("How long is the river Alder, and where is it?", ""),
        ("Does it rain in Norway?", ""),
        ("Is it legal to own a drone?", ""),
        ("What is it about ISO 9001?", ""),
        ("Wie lang ist er?", ""),
        ("这是什么？", ""),
        ("", ""),
        ("it " * 20_000, ""),
    ],
)
def test_a_question_that_points_at_what_it_does_not_name_is_recognised(question, pointer):
    assert intake.unnamed(question) == pointer


async def builtin_run(tmp_path, person, question, **options):
    settings = Settings()
    settings.api.backend = "builtin"
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    request = RunRequest(question=question, corpus=(str(corpus),), depth="quick", surface="tui", **options)
    handle = await facade.start(request, settings, person)
    result = await asyncio.wait_for(handle.wait(), 60)
    return result, store.load_state(store.find_run(result.run_id))


async def test_without_a_model_the_answer_takes_the_place_of_the_word(tmp_path):
    person = Asker({"answers": ["the river Birch?"]})
    result, state = await builtin_run(tmp_path, person, "How long is it?")
    assert person.asked[0].options == {"questions": ["What does “it” stand for?"], "stands_for": "it"}
    assert state.question == state.brief == result.question == "How long is the river Birch?"
    report = facade.read_report(result.run_id)
    assert "98 kilometres" in report
    assert "212" not in report


async def test_without_a_model_other_questions_are_not_asked_about(tmp_path):
    person = Asker({"answers": ["x"]})
    result, state = await builtin_run(tmp_path, person, "How long is the river Alder?")
    assert (result.outcome, person.asked, state.intake) == ("verified", [], None)


async def test_a_document_that_was_given_is_what_the_question_points_at(tmp_path):
    document = tmp_path / "note.md"
    document.write_text("# The Cedar\n\nThe Cedar is 31 kilometres long.\n")
    person = Asker({"answers": ["x"]})
    await builtin_run(tmp_path, person, "How long is it?", seed_docs=(str(document),))
    assert person.asked == []


# Kept, resumed, replayed


class Silent(Asker):
    """A person who is asked and does not answer."""

    def __init__(self):
        super().__init__({})
        self.shown = asyncio.Event()

    async def ask(self, asked):
        self.asked.append(asked)
        self.shown.set()
        await asyncio.Event().wait()


async def stopped_at_the_card(tmp_path):
    """A run that was stopped while its questions waited for an answer. Returns its id."""
    person = Silent()
    rules = {**good_rules(), "Planner": asking_planner(json.dumps(ASKS))}
    going = await start_scripted(rules, write_corpus(tmp_path / "rivers", RIVERS), person, approve_all=False)
    await asyncio.wait_for(person.shown.wait(), 60)
    going.run.command(Command("stop"))
    result = await asyncio.wait_for(going.task, 60)
    assert result.outcome == "stopped"
    return going.run.run_id


async def resumed(run_id, person, reply, seen):
    rules = {**good_rules(), "Planner": asking_planner(reply, seen)}
    ctx = await resume.open_run(run_id, Settings(), person, choose=choosing(rules))
    result = await asyncio.wait_for(conduct.conduct(ctx), 60)
    await ctx.services.close()
    return result, ctx.run.state


async def test_a_run_stopped_at_its_questions_puts_the_same_ones_again(tmp_path):
    run_id, seen, person = await stopped_at_the_card(tmp_path), [], Asker({"answers": ["Norway"]})
    result, state = await resumed(run_id, person, '{"questions": ["Another?"]}', seen)
    assert [asked.options for asked in person.asked] == [ASKS]
    assert "The person answered: Norway" in seen[0]
    assert (result.outcome, state.intake.answers) == ("verified", ("Norway",))


async def test_answers_last_over_a_resume_and_are_not_asked_for_again(tmp_path):
    run_id = await stopped_at_the_card(tmp_path)
    folder = store.find_run(run_id)
    asked = next(event for event in store.load_events(folder) if isinstance(event, ev.Asked))
    answered = ev.Answered(seq=store.load_state(folder).last_seq + 1, ask_id=asked.ask_id, answer={"answers": ["Norway", ""]})
    with (folder / "journal.jsonl").open("a", encoding="utf-8") as journal:
        journal.write(answered.model_dump_json() + "\n")
    seen, person = [], Asker({"answers": ["Sweden"]})
    await resumed(run_id, person, json.dumps(ASKS), seen)
    assert person.asked == []
    assert "The person answered: Norway" in seen[0]


async def test_a_run_that_went_without_questions_gets_none_when_it_is_resumed(tmp_path):
    begun = asyncio.Event()

    def waits():
        begun.set()
        return hangs()

    rules, corpus = {**good_rules(), "Planner": asking_planner(waits)}, write_corpus(tmp_path / "rivers", RIVERS)
    going = await start_scripted(rules, corpus, Asker({"answers": []}), approve_all=False)
    await asyncio.wait_for(begun.wait(), 60)
    going.run.command(Command("stop"))
    await asyncio.wait_for(going.task, 60)
    again = Asker({"answers": ["x"]})
    await resumed(going.run.run_id, again, json.dumps(ASKS), [])
    assert again.asked == []


async def test_a_replay_gives_the_recorded_answers_at_any_surface(tmp_path):
    answers = Asker({"answers": ["Norway", "1990"]})
    result, going = await run_with(tmp_path, answers, json.dumps(ASKS), record=True)
    watching = Person({"decision": "deny"})
    ctx, original = replay.open_replay(result.run_id, watching)
    again = await asyncio.wait_for(conduct.conduct(ctx), 60)
    await ctx.services.close()
    assert (again.outcome, check_same(original, ctx.run.dir)) == ("verified", [])
    assert ctx.run.state.brief == going.run.state.brief
    assert watching.asked == []


async def test_a_replay_carries_out_the_plan_as_the_person_had_left_it(tmp_path):
    settings = Settings()
    settings.settings.human_in_the_loop = True
    own = {"name": "The dam of the Birch", "facet": "", "instructions": "When was the river Birch dammed?"}
    result, going = await run_with(tmp_path, Person({"items": [own]}), "", settings=settings, record=True)
    ctx, original = replay.open_replay(result.run_id, Person({"items": []}))
    await asyncio.wait_for(conduct.conduct(ctx), 60)
    await ctx.services.close()
    assert [item.name for item in ctx.run.state.plan] == [item.name for item in going.run.state.plan] == [own["name"]]
    assert check_same(original, ctx.run.dir) == []
