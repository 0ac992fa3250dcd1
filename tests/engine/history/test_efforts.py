"""The ladder: what each effort reads, how conversations are chosen, what an empty answer means."""

import json
import logging
import sys

import pytest

from deepdelve.engine.history import route
from deepdelve.engine.history.query import HistoryQuery
from deepdelve.engine.history.search import run_search
from tests.engine.history.support import Home, actions, codes, dump, sid

RUN = "20260101_000000_abcdef"
# Audit hooks stay for ever, so one of them serves all tests and watches only where asked to.
WATCHED: list[list[str]] = []


def watch(name, args):
    if name in {"open", "os.listdir", "os.scandir", "sqlite3.connect"} and WATCHED:
        WATCHED[-1].append(str(args[0]))


sys.addaudithook(watch)


def test_a02_prompt_effort_opens_the_prompt_history_and_nothing_else(home: Home):
    home.talk(1, "tide tables", "a tide")
    home.run(RUN, 1, report="a tide report")
    WATCHED.append([])
    try:
        found = home.search("tide")
    finally:
        opened = WATCHED.pop()
    assert [record.text for record in found.records] == ["tide tables"]
    assert [path for path in opened if str(home.roots.home) in path] == [str(home.roots.history)]


def test_a03_conversations_are_grouped_before_they_are_cut(home: Home):
    for _ in range(5):
        home.prompt("tide", 3)
    home.prompt("tide", 1)
    home.prompt("tide", 2)
    for number in (1, 2, 3):
        home.session(number, "tide", f"answer {number} tide")
    found = home.search("tide", deep=True, conversation_limit=2, kinds=("reply",))
    assert {record.text for record in found.records} == {"answer 2 tide", "answer 1 tide"}
    assert (found.summary.coverage.conversations_eligible, found.summary.coverage.conversations_selected) == (3, 2)


def test_a04_a_failed_resolution_takes_its_slot_and_nobody_moves_up(home: Home):
    for number in (1, 2, 3, 4, 10):
        home.prompt("tide", number)
    for number in (1, 2):
        home.session(number, "tide", f"answer {number} tide")
    home.session(3, "tide", "tide of another", header=sid(9))
    elsewhere = home.roots.home / "elsewhere.jsonl"
    home.session(4, "tide", "linked tide").rename(elsewhere)
    home.path(4).symlink_to(elsewhere)
    doubled = home.session(10, "tide", "doubled tide")
    doubled.with_name(f"session_{sid(10).upper()}.jsonl").write_text(doubled.read_text())
    found = home.search("tide", deep=True, conversation_limit=4, kinds=("reply",))
    assert [record.text for record in found.records] == ["answer 2 tide"]
    assert codes(found) == {"targeted_unresolved": 2, "targeted_ambiguous": 1}
    assert found.summary.coverage.conversations_selected == 4
    assert found.summary.coverage.conversations_completed == 1


def test_a04_the_walk_for_odd_names_is_bounded(home: Home, monkeypatch):
    home.prompt("tide", 1)
    odd = home.session(1, "tide", "answer tide")
    odd.rename(odd.with_name("session_{" + sid(1) + "}.jsonl"))
    assert [r.text for r in home.search("tide", deep=True, kinds=("reply",)).records] == ["answer tide"]
    monkeypatch.setattr(route, "MAX_ENTRIES", 0)
    assert codes(home.search("tide", deep=True, kinds=("reply",))) == {"targeted_budget_exhausted": 1}


def test_a05_evidence_is_never_a_result(home: Home):
    home.talk(1, "tide at Alder", "it is high")
    found = home.search("tide cheese", deep=True)
    assert not found.records
    assert found.summary.outcome == "no_selected_conversation_match"
    assert found.summary.coverage.conversations_selected == 1
    assert home.search("tide", deep=True, scope="conversations", kinds=("reply",)).summary.outcome == "no_selected_conversation_match"


def test_a06_negated_words_choose_nothing_and_facts_choose_alone(home: Home):
    home.prompt("boats", 1, model="small")
    home.prompt("boats", 2, model="large")
    home.session(1, "boats", "wind")
    home.session(2, "boats", "rain")
    nothing = home.search("NOT tide", deep=True, kinds=("reply",))
    assert not nothing.records
    assert codes(nothing) == {"targeted_no_positive_clue": 1}
    assert nothing.summary.outcome == "no_candidate_conversation"
    home.run(RUN, 1, model="small")
    chosen = home.search("", deep=True, model="small")
    assert chosen.summary.coverage.conversations_selected == 1
    dated = home.search("", deep=True, since="2026-01-01", kinds=("reply",))
    assert codes(dated) == {"targeted_no_positive_clue": 1}


def test_a06_a_positive_word_beside_a_negated_one_chooses_by_itself(home: Home):
    home.talk(1, "tide at Alder", "high tide")
    home.talk(2, "cheese at Alder", "no tide")
    found = home.search("tide NOT cheese", deep=True, kinds=("reply",))
    assert [record.text for record in found.records] == ["high tide"]


@pytest.mark.parametrize("options", [{}, {"deep": True}, {"exhaustive": True, "scope": "all"}])
def test_a07_a_prompt_history_that_cannot_be_read_fails_the_search(home: Home, options):
    home.session(1, "tide", "a tide")
    home.roots.history.mkdir()
    found = home.search("tide", **options)
    assert found.summary.status.state == "failed"
    assert found.summary.outcome == "undetermined"
    assert found.summary.completed_effort is None
    assert not actions(found)
    assert bool(found.records) == ("exhaustive" in options)
    assert ("targeted_evidence_failure" in codes(found)) == ("deep" in options)


def test_a11_each_empty_answer_says_what_it_means(home: Home):
    home.talk(1, "tide", "ebb")
    assert home.search("cheese").summary.outcome == "no_prompt_match"
    assert home.search("cheese", deep=True).summary.outcome == "no_candidate_conversation"
    assert home.search("tide cheese", deep=True).summary.outcome == "no_selected_conversation_match"
    assert home.everything("cheese").summary.outcome == "no_exhaustive_match"
    assert home.search("tide").summary.outcome == "matches"


def test_a11_and_offers_the_next_rung(home: Home):
    home.talk(1, "tide", "ebb")
    assert actions(home.search("cheese")) == ["search.targeted", "search.exhaustive"]
    assert actions(home.search("cheese", deep=True)) == ["search.exhaustive"]
    assert actions(home.everything("cheese")) == ["search.include_sources"]
    assert actions(home.everything("tide")) == []


def test_a23_widening_a_stated_scope_needs_confirmation(home: Home):
    home.talk(1, "tide", "ebb")
    stated = {a.action_id: a.requires_confirmation for a in home.search("cheese", scope="prompts").summary.next_actions}
    inferred = {a.action_id: a.requires_confirmation for a in home.search("cheese").summary.next_actions}
    assert stated == {"search.targeted": True, "search.exhaustive": True}
    assert inferred == {"search.targeted": False, "search.exhaustive": False}
    same = home.search("cheese", scope="conversations", deep=True).summary.next_actions
    assert [(dict(a.patch), a.requires_confirmation) for a in same] == [({"effort": "exhaustive"}, False)]


def test_a24_words_in_different_records_match_across_a_conversation_on_request(home: Home):
    home.session(1, "tide tables", "they are at Alder", "thanks")
    home.session(2, "tide", "ebb")
    nothing = home.everything("tide Alder")
    assert not nothing.records
    assert codes(nothing)["terms_in_different_records"] == 1
    assert "search.match_across_conversation" in actions(nothing)
    found = home.everything("tide Alder", match_unit="conversation")
    assert [record.text for record in found.records] == ["they are at Alder", "tide tables"]
    assert home.texts("tide NOT Alder", match_unit="conversation") == ["tide"]
    assert "terms_in_different_records" not in codes(home.everything("cheese Alder"))


def test_a24_a_conversation_includes_its_runs_and_prompts(home: Home):
    home.session(1, "tide tables", "thanks")
    home.run(RUN, 1, report="# Alder\n\nThe harbour of Alder.")
    assert len(home.everything("tide Alder", match_unit="conversation").records) == 2


def test_a25_neither_diagnostics_nor_logs_hold_terms_paths_or_ids(home: Home, caplog):
    caplog.set_level(logging.DEBUG)
    secret = "zebrafish"
    home.prompt(f"{secret} tide", 1)
    home.prompt(f"{secret} tide", 2)
    home.path(1).mkdir()
    home.session(2, secret, "x", header=sid(7))
    with home.roots.history.open("a") as file:
        file.write(f'{{"text": {secret}\n')
    for options in ({}, {"deep": True}, {"exhaustive": True, "scope": "all"}):
        found = home.search(secret, **options)
        told = json.dumps([found.summary.to_dict()["diagnostics"], found.summary.to_dict()["next_actions"]])
        for word in (secret, str(home.roots.home), sid(1), sid(2)):
            assert word not in told
            assert word not in caplog.text
    assert "1 selected" not in caplog.text
    assert "2 selected" in caplog.text


def test_a26_the_current_session_is_left_out_and_counted(home: Home):
    home.talk(1, "tide", "a tide")
    home.talk(2, "tide", "another tide")
    for options in ({"exhaustive": True, "scope": "all"}, {"deep": True}, {}):
        found = home.search("tide", exclude_session=sid(1), **options)
        assert {record.session_id for record in found.records} == {sid(2)}
        assert codes(found)["current_session_excluded"] >= 1
    assert codes(home.search("cheese", exclude_session=sid(1))) == {}


def test_exhaustive_reads_transcripts_findings_and_reports_and_names_what_it_searched(home: Home):
    home.talk(1, "what of the tide", "a tide reply")
    home.run(RUN, 1, report="# Report\n\nThe tide is high.", finding="The tide rises.", page="The tide on a page.")
    found = home.everything("tide")
    assert {record.kind for record in found.records} == {"prompt", "reply", "finding", "report"}
    assert found.summary.kinds == ("finding", "prompt", "reply", "report")
    wide = home.everything("tide", kinds=("source",))
    assert [(record.kind, record.url, record.title) for record in wide.records] == [("source", "https://a.example/page", "A page")]


def test_the_talk_of_a_run_is_searched_on_request_only(home: Home):
    folder = home.run(RUN, 1)
    rows = [
        {"type": "tool_returned", "ts": 1767225600.5, "tool": "web_search", "text": "tide hits"},
        {"type": "message", "ts": 1767225601, "role": "Searcher", "text": "I look for the tide"},
        {"type": "message", "role": "User", "text": "tide task"},
    ]
    (folder / "journal.jsonl").write_text("".join(map(dump, rows)))
    assert not home.texts("tide")
    assert [(r.kind, r.title) for r in home.everything("tide", kinds=("tool", "reasoning")).records] == [
        ("reasoning", ""),
        ("tool", "web_search"),
    ]


def test_targeted_reads_the_runs_of_a_chosen_conversation_that_say_the_same(home: Home):
    home.prompt("tide", 1, run_id=RUN)
    home.session(1, "tide", "ebb")
    home.point(1, RUN)
    home.point(1, "20260101_000000_fedcba")
    home.run(RUN, 1, report="tide report")
    home.run("20260101_000000_fedcba", 2, report="tide report of others")
    found = home.search("tide", deep=True, kinds=("report",))
    assert [record.text for record in found.records] == ["tide report"]
    assert codes(found) == {"header_mismatch": 1}


def test_a_run_without_a_snapshot_is_read_from_its_journal(home: Home):
    folder = home.run(RUN, 1, finding="x")
    (folder / "_run_state.json").unlink()
    finding = {"id": "F1", "source_id": "S1", "claims": [{"text": "The tide turns."}]}
    rows = [
        {"type": "run_started", "ts": 1767225600.0, "run_id": RUN, "session_id": sid(1), "model": "m", "question": "q"},
        {"type": "finding_added", "ts": 1767225601.0, "finding": finding},
    ]
    (folder / "journal.jsonl").write_text("".join(map(dump, rows)) + '{"type": "run_en')
    found = home.everything("tide")
    assert [(record.text, record.session_id, record.model) for record in found.records] == [("The tide turns.", sid(1), "m")]


def test_facts_of_the_run_hold_for_turns_too(home: Home):
    path = home.session(1)
    for run_id, model in ((RUN, "small"), ("20260101_000000_fedcba", "large")):
        home.run(run_id, 1, model=model)
        with path.open("a") as file:
            file.write(dump({"n": 1, "ts": "2026-01-01T00:00:00Z", "role": "assistant", "text": f"tide by {model}", "run_id": run_id}))
    assert home.texts("tide", model="small") == ["tide by small"]
    assert home.texts("tide rundepth:quick", run=RUN) == ["tide by small"]
    assert home.texts("by (model:large OR cheese)") == ["tide by large"]
    assert home.texts("tide", style="academic") == []


def test_the_summary_certifies_what_was_read(home: Home):
    home.talk(1, "tide", "ebb")
    first, again = home.everything("cheese").summary, home.everything("boats").summary
    assert first.certificate == again.certificate is not None
    home.talk(2, "more", "ebb")
    assert home.everything("cheese").summary.certificate != first.certificate
    assert home.search("cheese", deep=True).summary.certificate is None
    assert first.to_dict()["index"] == {"used": False, "watermark": None, "sources_live": 2, "sources_ruled_out": 0}


def test_a_session_written_an_instant_ago_is_found(home: Home):
    home.session(1, "old")
    assert not home.texts("brand-new")
    home.session(2, "brand-new words")
    assert home.texts("brand-new") == ["brand-new words"]


def test_an_empty_home_is_searched_completely(home: Home):
    found = run_search(HistoryQuery("tide"), home.roots)
    assert found.summary.status.state == "complete"
    assert codes(found) == {"history_missing": 1}
