"""A question on a run: answered from what it holds, with citations; its files stay as they are; the conversation is kept."""

import hashlib
import re

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError, RunBusyError, UsageError
from deepdelve.engine import facade, followup, lease, resume, sessions, store
from deepdelve.engine.journal import JOURNAL
from tests.engine.durable.support import choosing, go_on, killed_at
from tests.support.scripted import in_turn, text
from tests.support.whole_run import RIVERS, RecordingSurface, good_rules, results, run_scripted, said, write_corpus

OURS = {JOURNAL, store.SNAPSHOT, lease.LEASE}


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


def artifacts(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in OURS
    }


async def ask(run_id, question, rules=None):
    made = []
    surface = RecordingSurface()
    ctx = await followup.open_run(run_id, question, Settings(), surface, choose=choosing(rules, made))
    try:
        result = await followup.answer(ctx, question)
    finally:
        ctx.run.close()
        await ctx.services.close()
    return result, surface, made[0]


async def test_an_answer_is_cited_and_checked_and_no_file_of_the_run_changes(rivers):
    whole = await run_scripted(good_rules(), rivers)
    before = artifacts(whole.run.dir)
    result, surface, factory = await ask(whole.run.run_id, "When was the Birch dammed?")
    assert (result.outcome, result.exit) == ("verified", 0)
    assert "It was dammed in 1931 [" in result.answer
    assert result.claims.supported > 0
    assert result.claims.unsupported == 0
    assert all(ref.file for ref in result.citations)
    assert artifacts(whole.run.dir) == before
    assert not surface.of(ev.CheckVerdict)
    assert not surface.of(ev.StageChanged)
    assert {c.role for c in factory.calls} == {"Analyzer"}
    assert store.load_state(whole.run.dir).outcome == "verified"


async def test_a_sentence_that_no_source_carries_is_marked_and_the_answer_is_not_verified(rivers):
    whole = await run_scripted(good_rules(), rivers)
    result, *_ = await ask(
        whole.run.run_id, "How long is the Alder?", good_rules(Analyzer=in_turn(text("- The Alder is 999 kilometres long [S1]")))
    )
    assert (result.outcome, result.exit) == ("unverified", 3)
    assert "⚠" in result.answer


async def test_what_the_sources_do_not_say_is_said_to_be_missing(rivers):
    whole = await run_scripted(good_rules(), rivers)
    result, *_ = await ask(
        whole.run.run_id, "Who owns the Birch?", good_rules(Analyzer=in_turn(text("The sources do not answer the task.")))
    )
    assert (result.outcome, result.exit) == ("no_evidence", 3)
    assert "No source in the available evidence directly states" in result.answer


async def test_a_model_that_fails_is_a_failure_and_no_missing_evidence(rivers):
    whole = await run_scripted(good_rules(), rivers)
    down = BackendError("The server answered with status 500.", cause="server_error", retry_after=0)
    result, *_ = await ask(whole.run.run_id, "How long is the Alder?", good_rules(Analyzer=in_turn(down)))
    assert (result.outcome, result.exit) == ("failed", 4)
    assert "status 500" in result.reason
    assert followup.earlier(whole.run.dir) == []


async def test_several_questions_in_a_row_each_know_those_before_also_after_a_restart(rivers):
    whole = await run_scripted(good_rules(), rivers)
    questions = ["When was the Birch dammed?", "How long is it?", "And where is its source?"]
    shown = []

    def analyzer(messages, options):
        if not results(messages):
            shown.append(said(messages))
        return text('- The Birch was dammed in 1931 [S2] "It was dammed in 1931."')

    for question in questions:
        await ask(whole.run.run_id, question, good_rules(Analyzer=analyzer))
    assert "asked before" not in shown[0]
    assert questions[0] in shown[1]
    assert questions[0] in shown[2]
    assert questions[1] in shown[2]
    past = shown[2].split("What was asked before")[1]
    assert re.search(r"dammed in 1931 \[S\d\]", past), "numbers of an earlier answer stand for its own list of sources"
    assert re.search(r"<<<untrusted \w+>>>\nQuestion: When", past)
    assert [event.question for event in followup.earlier(whole.run.dir)] == questions


async def test_each_question_has_dispatches_of_its_own_and_a_budget_of_its_own(rivers):
    whole = await run_scripted(good_rules(), rivers)
    state = whole.run.state
    for _ in range(3):
        await ask(whole.run.run_id, "How long is the Alder?")
    events = store.load_events(whole.run.dir)
    started = [e.dispatch for e in events if isinstance(e, ev.DispatchStarted)]
    assert len(started) == len(set(started))
    ctx = await followup.open_run(whole.run.run_id, "Again?", Settings(), RecordingSurface(), choose=choosing())
    assert ctx.run.budget.quotas["read_workspace_file"] > state.used["read_workspace_file"] + 300
    ctx.run.close()


async def test_question_and_answer_stand_in_the_session(rivers):
    whole = await run_scripted(good_rules(), rivers)
    result, *_ = await ask(whole.run.run_id, "When was the Birch dammed?")
    turns = sessions.turns(whole.run.state.session_id)
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user", "assistant"]
    assert turns[-1]["text"] == result.answer


async def test_a_dropped_source_is_not_read_again_for_an_answer(rivers):
    whole = await run_scripted(good_rules(), rivers)
    whole.run.drop_source("S1")
    whole.run.close()
    _, _, factory = await ask(whole.run.run_id, "How long is the Alder?")
    assert "Sources to read: S2" in said(factory.calls[0].messages)


async def test_a_question_before_the_report_goes_on_with_the_research(rivers, monkeypatch):
    run_id, _ = await killed_at(30, rivers, monkeypatch)
    assert not followup.has_report(run_id)
    made = []
    surface = RecordingSurface()
    ctx = await resume.open_run(run_id, Settings(), surface, choose=choosing(made=made), instruction="Say when each was dammed.")
    handle = facade._handle(ctx)
    result = await handle.wait()
    assert result.outcome == "verified"
    assert surface.of(ev.CheckVerdict), "the completion check is skipped for follow-ups only"
    assert surface.of(ev.ReportDelivered)
    opening = next(e.text for e in surface.of(ev.Message) if e.dispatch == "" and e.role == "User")
    assert "The person adds: Say when each was dammed." in opening
    assert followup.has_report(run_id)


async def test_a_question_while_only_writing_is_left_reaches_the_writer(rivers, monkeypatch):
    run_id, _ = await killed_at(99, rivers, monkeypatch)
    made = []
    ctx = await resume.open_run(run_id, Settings(), RecordingSurface(), choose=choosing(made=made), instruction="Name the year of the dam.")
    assert (await facade._handle(ctx).wait()).outcome in {"verified", "unverified"}
    assert any("Name the year of the dam." in said(c.messages) for c in made[0].calls if c.role == "Builder")


async def test_a_run_that_is_worked_on_is_not_asked(rivers, monkeypatch):
    whole = await run_scripted(good_rules(), rivers)
    held = lease.Lease(whole.run.dir)
    held.take()
    with pytest.raises(RunBusyError):
        await ask(whole.run.run_id, "How long is the Alder?")
    held.release()


async def test_an_empty_question_changes_nothing(rivers):
    whole = await run_scripted(good_rules(), rivers)
    size = whole.run.journal.path.stat().st_size
    with pytest.raises(UsageError):
        await ask(whole.run.run_id, "  ")
    assert whole.run.journal.path.stat().st_size == size


async def test_a_verified_run_whose_report_was_deleted_is_delivered_again(rivers):
    whole = await run_scripted(good_rules(), rivers)
    report = whole.run.dir / "final_report.md"
    report.unlink()
    result, *_ = await go_on(whole.run.run_id)
    assert result.outcome == "verified"
    assert "212 kilometres" in report.read_text()


async def test_the_state_is_read_once_the_lease_is_held(rivers, monkeypatch):
    """Another process may have worked on the run between the first look and the lease."""
    run_id, _ = await killed_at(40, rivers, monkeypatch)
    folder = store.find_run(run_id)
    choose = choosing()

    async def meanwhile(chosen, hooks):
        await go_on(run_id)
        (folder / "final_report.md").unlink()
        return await choose(chosen, hooks)

    ctx = await resume.open_run(run_id, Settings(), RecordingSurface(), choose=meanwhile)
    assert ctx.run.state.processes == 3
    ctx.run.close()
    seqs = [event.seq for event in store.load_events(folder)]
    assert seqs == sorted(set(seqs))


async def test_an_answer_without_the_stored_texts_is_a_failure_and_no_missing_evidence(rivers):
    whole = await run_scripted(good_rules(), rivers)
    texts = [whole.run.dir / whole.run.state.sources[source_id].file for source_id in whole.run.state.citations]
    texts[0].unlink()
    result, surface, *_ = await ask(whole.run.run_id, "How long is the Birch?")
    told = [notice.text for notice in surface.of(ev.Notice) if notice.code == "texts_gone"]
    assert len(told) == 1
    assert whole.run.state.citations[0] in told[0]
    for text_file in texts[1:]:
        text_file.unlink()
    result, *_ = await ask(whole.run.run_id, "How long is the Birch?")
    assert (result.outcome, result.exit) == ("failed", 4)
    assert "gone from the run's folder" in result.reason
