"""Order, copies and limits: one stage, whatever is read in whatever order."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdelve.engine.history import index
from deepdelve.engine.history.collect import Newest, better
from deepdelve.engine.history.fit import fit
from deepdelve.engine.history.match import norm
from deepdelve.engine.history.query import HistoryQuery
from deepdelve.engine.history.records import (
    Collected,
    HistoryResult,
    Record,
    RecordEmitted,
    SearchFinished,
    SearchStarted,
    SourceFinished,
    SourceStarted,
    StreamError,
    instant_of,
    iso,
)
from deepdelve.engine.history.summary import CONDITIONS, PRECEDENCE, Coverage, Summary, cut_short, outcome_of, status_of
from tests.engine.history.support import Home, codes, sid

RUN = "20260101_000000_abcdef"
COUNTS = ("completed", "bounded", "unsupported", "failed", "cancelled")


def test_a08_the_limit_comes_after_everything_was_merged(home: Home):
    for number in range(1, 6):
        home.session(number, f"tide {number}")
    home.session(6, ("tide oldest", "2020-01-01T00:00:00Z"))
    home.session(7, ("tide newest", "2027-01-01T00:00:00Z"))
    found = home.everything("tide", limit=2)
    assert [r.text for r in found.records] == ["tide newest", "tide 5"]
    assert found.summary.coverage.matches_seen == 7


@pytest.mark.parametrize("order", ["newest", "relevance", "scan"])
def test_a09_bounded_is_claimed_only_where_one_more_match_is_proven(home: Home, order):
    for number in range(1, 4):
        home.session(number, f"tide {number}")
    exact, over = home.everything("tide", limit=3, order=order), home.everything("tide", limit=2, order=order)
    assert exact.summary.status.state == "complete"
    assert (over.summary.status.state, over.summary.status.reason) == ("bounded", "result_limit")
    assert (len(exact.records), len(over.records)) == (3, 2)
    assert over.summary.outcome == "matches"
    assert over.summary.completed_effort == "exhaustive"


def test_a09_copies_prove_nothing(home: Home):
    for _ in range(3):
        home.prompt("tide", 1)
    assert home.search("tide", limit=1).summary.status.state == "complete"


@pytest.mark.parametrize(("one", "other"), itertools.combinations(PRECEDENCE, 2))
def test_a10_the_higher_condition_is_the_state_and_the_other_is_kept(one, other):
    for first in CONDITIONS[one]:
        second = CONDITIONS[other][0] if other != "complete" else None
        status = status_of({first, second} - {None})
        assert (status.state, status.reason) == (one, first)
        assert set(status.conditions) == {first, second} - {None}


def test_a10_nothing_is_complete_and_all_six_states_are_ordered():
    assert status_of(set()).state == "complete"
    assert PRECEDENCE == ("failed", "cancelled", "truncated", "approximate", "bounded", "complete")


@pytest.mark.parametrize("condition", [name for names in CONDITIONS.values() for name in names])
def test_a11_what_was_cut_short_is_undetermined(condition):
    certain = condition in {*CONDITIONS["approximate"], "result_limit"}
    assert cut_short({condition}) == (not certain)
    assert (outcome_of(HistoryQuery("x"), {condition}, 0, 0) == "undetermined") == (not certain)


@st.composite
def possible(draw):
    ended = {name: draw(st.integers(0, 50)) for name in COUNTS}
    attempted = sum(ended.values())
    skipped, records, selected = draw(st.integers(0, 50)), draw(st.integers(0, 500)), draw(st.integers(0, 50))
    planned = attempted + skipped
    eligible = planned + draw(st.integers(0, 5))
    return {
        **{f"sources_{name}": count for name, count in ended.items()},
        "sources_attempted": attempted,
        "sources_skipped": skipped,
        "sources_planned": planned,
        "sources_eligible": eligible,
        "sources_discovered": eligible + draw(st.integers(0, 5)),
        "records_seen": records,
        "matches_seen": draw(st.integers(0, records)),
        "conversations_eligible": selected + draw(st.integers(0, 5)),
        "conversations_selected": selected,
        "conversations_completed": draw(st.integers(0, selected)),
    }


@settings(max_examples=60, deadline=None)
@given(possible(), st.data())
def test_a12_impossible_coverage_is_refused(counts, data):
    assert Coverage(**counts)
    wrong = [
        {"sources_attempted": counts["sources_attempted"] + 1},
        {"sources_skipped": counts["sources_skipped"] + 1},
        {"sources_discovered": counts["sources_eligible"] - 1},
        {"sources_eligible": counts["sources_planned"] - 1},
        {"matches_seen": counts["records_seen"] + 1},
        {"conversations_completed": counts["conversations_selected"] + 1},
        {"conversations_selected": counts["conversations_eligible"] + 1},
        {f"sources_{data.draw(st.sampled_from(COUNTS))}": -1},
    ]
    with pytest.raises(ValueError, match="impossible"):
        Coverage(**counts | data.draw(st.sampled_from(wrong)))


def test_a13_instants_are_compared_and_not_their_spelling(home: Home):
    home.session(1, ("tide later", "2026-03-01T20:00:00Z"))
    home.session(2, ("tide earlier", "2026-03-02T00:30:00+09:00"))
    assert [r.text for r in home.everything("tide", limit=1).records] == ["tide later"]


def test_a13_fractions_count_and_records_without_an_instant_come_last(home: Home):
    stamps = [None, "2026-03-01T20:00:00.000001Z", "2026-03-01T20:00:00Z", "soon", "2026-03-01T20:00:00.5"]
    home.session(1, *[(f"tide {n}", ts) for n, ts in enumerate(stamps)])
    assert [r.text for r in home.everything("tide").records] == ["tide 4", "tide 1", "tide 2", "tide 3", "tide 0"]
    assert home.texts("tide", since="2026-03-01", until="2026-03-01") == ["tide 4", "tide 1", "tide 2"]
    assert home.texts("tide", since="2026-03-02") == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000),
        (1.5, 1_500_000),
        ("", None),
        (None, None),
        (True, None),
        ([], None),
        ("9999-99-99", None),
        (1e300, None),
    ],
)
def test_a13_instants(given, expected):
    assert instant_of(given) == (expected if given != 1e300 else instant_of(1e300))
    assert iso(None) is None
    assert iso(10**30) is None


def transcript_of(data, home):
    for number, stamps in enumerate(data, 1):
        home.session(number, *[(f"tide {number} {place % 3}", f"2026-01-{1 + ts:02}T00:00:00Z") for place, ts in enumerate(stamps)])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 27), min_size=1, max_size=4), min_size=1, max_size=8),
    st.integers(1, 6),
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 2)), max_size=4),
)
def test_a17_stopping_early_gives_what_reading_everything_gives(tmp_path_factory, data, limit, prompts):
    home = Home(tmp_path_factory.mktemp("home") / "h")
    transcript_of(data, home)
    for number, place in prompts:
        home.prompt(f"tide {number} {place}", number)
    index.update(home.roots)
    whole = home.everything("tide")
    early = home.everything("tide", limit=limit, indexed=True)
    assert [replace(r, span=(0, 0)) for r in early.records] == [replace(r, span=(0, 0)) for r in whole.records[:limit]]
    assert (early.summary.status.reason == "result_limit") == (len(whole.records) > limit)
    assert early.summary.status.state in {"complete", "bounded"}


def test_a17_early_means_few_files_are_read(home: Home):
    for number in range(1, 40):
        home.session(number, "tide", f"tide answer {number}")
    home.prompt("x", 1)
    index.update(home.roots)
    found = home.everything("tide", limit=3, indexed=True)
    assert found.summary.coverage.sources_skipped >= 35
    assert [r.text for r in found.records] == [r.text for r in home.everything("tide", limit=3).records]


def test_a19_a_prompt_and_its_turn_are_one_and_the_turn_is_kept(home: Home):
    home.session(1, ("tide", "2026-01-01T00:00:00Z"))
    home.prompt("TIDE", 1, ts="2026-01-01T00:00:00.010Z")
    found = home.everything("tide")
    assert [(r.store, r.text, r.ts_us % 1_000_000) for r in found.records] == [("transcript", "tide", 10_000)]
    assert found.summary.folded == 1
    assert len(home.everything("tide", dedupe=False).records) == 2


def test_a19_other_sessions_and_kinds_are_no_copies(home: Home):
    home.session(1, "tide", "tide")
    home.session(2, "tide")
    assert len(home.everything("tide").records) == 3


def record(store, ts, ordinal=1, text="tide"):
    return Record("prompt", sid(1), "", ts, text, store, ordinal)


def test_a19_of_two_turns_the_newest_is_kept_in_whatever_order_they_come():
    old, new, prompt = record("transcript", 1), record("transcript", 5, 9), record("history", 7)
    for rows in itertools.permutations((old, new, prompt)):
        kept = rows[0]
        for row in rows[1:]:
            kept = better(kept, row)
        assert (kept.store, kept.ordinal, kept.ts_us) == ("transcript", 9, 7)
    collector = Newest(HistoryQuery("tide", limit=1))
    for row in (old, new, prompt, record("transcript", 3, text="other")):
        collector.offer(row, norm(row.text))
    kept, more = collector.finish()
    assert (kept[0].text, more, collector.folded) == ("tide", True, 2)


def test_relevance_prefers_prompts_phrases_and_density_and_breaks_ties_by_date(home: Home):
    home.session(1, "the tide tables of Alder", "tide " * 3 + "word " * 400, "Alder has a high tide", "tide in Alder " + "word " * 50)
    ranked = [r.text[:24] for r in home.everything("high tide", any_term=True, order="relevance").records]
    assert ranked[0] == "Alder has a high tide"
    home.session(2, "boats")
    home.session(3, "boats")
    assert [r.session_id for r in home.everything("boats", order="relevance").records] == [sid(3), sid(2)]


def test_relevance_is_the_same_with_an_index(home: Home):
    for number in range(1, 9):
        home.session(number, f"tide {'x ' * number}", f"tide tide {number}")
    plain = [r.ref for r in home.everything("tide", order="relevance", limit=5).records]
    index.update(home.roots)
    assert [r.ref for r in home.everything("tide", order="relevance", limit=5, indexed=True).records] == plain


def test_scan_order_stops_as_soon_as_one_more_is_found(home: Home):
    for number in range(1, 9):
        home.session(number, "tide")
    found = home.everything("tide", order="scan", limit=2)
    assert len(found.records) == 2
    assert found.summary.coverage.sources_skipped == 5


def test_a22_a_budget_keeps_whole_records_from_the_front(home: Home):
    for number in range(1, 30):
        home.session(number, f"tide {'x' * 500} {number}")
    whole = home.everything("tide")
    cut = fit(whole, 6_000)
    assert 0 < len(cut.records) < 29
    assert cut.records == whole.records[: len(cut.records)]
    assert (cut.summary.status.state, cut.summary.outcome, cut.summary.match_count) == ("truncated", "undetermined", len(cut.records))
    assert cut.summary.certificate is None
    assert fit(whole, 10**6) == whole
    assert not fit(whole, 10).records


@pytest.mark.parametrize(
    ("condition", "state"), [("source_failed", "failed"), ("deadline", "cancelled"), ("malformed_records", "truncated")]
)
def test_a22_failed_stays_failed(home: Home, condition, state):
    home.session(1, "tide " * 100)
    whole = home.everything("tide")
    worse = HistoryResult(whole.records, replace(whole.summary, status=status_of({condition})))
    cut = fit(worse, 1_500)
    assert cut.summary.status.state == state
    assert set(cut.summary.status.conditions) == {condition, "response_budget"}


def stream_ending(count):
    return SearchFinished(replace(Summary({}, "prompt", "prompt", status_of(set()), "matches", Coverage()), match_count=count))


@pytest.mark.parametrize(
    "events",
    [
        [],
        [SearchStarted(HistoryQuery())],
        [SearchStarted(HistoryQuery()), SearchStarted(HistoryQuery())],
        [stream_ending(0)],
        [SearchStarted(HistoryQuery()), SourceStarted("a"), stream_ending(0)],
        [SearchStarted(HistoryQuery()), SourceFinished("a", "completed")],
        [SearchStarted(HistoryQuery()), RecordEmitted(record("history", 1)), stream_ending(2)],
        [SearchStarted(HistoryQuery()), stream_ending(0), stream_ending(0)],
    ],
)
def test_a_stream_that_does_not_add_up_is_refused(events):
    def collect() -> None:
        collected = Collected()
        for event in events:
            collected.take(event)
        collected.result()

    with pytest.raises(StreamError):
        collect()


def test_the_echo_repeats_the_normalized_request(home: Home):
    home.prompt("tide")
    echo = home.search("tide", deep=True).summary.request
    assert (echo["effort"], echo["scope"], echo["conversation_limit"], echo["terms"]) == ("targeted", "all", 25, "tide")
    assert codes(home.search("tide")) == {}
