"""References, the way from a hit to its evidence, and a lost prompt history that is rebuilt."""

import base64
import json

import pytest

from deepdelve.core.errors import StateError, UsageError
from deepdelve.engine import facade, store
from deepdelve.engine.history import refs
from deepdelve.engine.history.jump import follow
from tests.engine.history.support import Home, codes, dump, sid

RUN = "20260101_000000_abcdef"
PAGE = "Harbour of Alder. The tide rises nine metres at Alder. Boats leave at noon."
REPORT = "# Tides\n\nIntro words.\n\nThe tide rises nine metres [1]. Boats leave at noon [1].\n"


@pytest.fixture
def told(home: Home) -> Home:
    """A run whose report, ledger, finding and page speak of one passage."""
    home.talk(1, "how high is the tide", "see the report")
    folder = home.run(RUN, 1, report=REPORT, finding="x", page=PAGE)
    start, end = PAGE.index("The tide"), PAGE.index(" Boats")
    state = json.loads((folder / "_run_state.json").read_text())
    state["state"]["findings"] = {
        "F1": {"id": "F1", "source_id": "S1", "claims": [{"text": "Boats leave.", "start": end + 1, "end": len(PAGE)}]},
        "F2": {
            "id": "F2",
            "source_id": "S1",
            "claims": [
                {"text": "Alder has a harbour.", "start": 0, "end": 17},
                {"text": "The tide rises by nine metres.", "start": start, "end": end},
            ],
        },
    }
    (folder / "_run_state.json").write_text(json.dumps(state))
    spans = [(REPORT.index("The tide"), REPORT.index(" Boats")), (REPORT.index("Boats"), len(REPORT) - 1)]
    claims = [
        {"id": "c1", "text": "The tide rises nine metres.", "delivered_span": spans[0], "citations": ["S1"], "status": "supported"}
        | {"passage": {"source_id": "S1", "start": start, "end": end}},
        {
            "id": "c2",
            "text": "Boats leave at noon.",
            "delivered_span": spans[1],
            "citations": ["S1"],
            "status": "unsupported",
            "passage": None,
        },
    ]
    (folder / "final_report.claims.json").write_text(json.dumps({"version": 1, "claims": claims}))
    return home


def hit(home: Home, terms: str, kind: str):
    return home.everything(terms, kinds=(kind,)).records[0]


def test_every_record_can_be_read_again_by_its_reference(told: Home):
    for kind in ("prompt", "reply", "finding", "report", "source"):
        for record in told.everything("NOT zebra", kinds=(kind,)).records:
            again = refs.inspect(record.ref, told.roots)
            assert (again.kind, again.text, again.session_id) == (record.kind, record.text, record.session_id)
    prompt = told.search("tide").records[0]
    assert refs.inspect(prompt.ref, told.roots).store == "history"


def test_a_reference_holds_no_path_and_no_text(told: Home):
    for record in told.everything("tide").records:
        plain = base64.urlsafe_b64decode(record.ref.removeprefix("ddref1:") + "==").decode()
        assert "/" not in plain
        assert "tide" not in plain
        assert str(told.roots.home) not in plain


def test_a_hit_in_a_report_leads_to_claim_finding_passage_and_address(told: Home):
    found = follow(hit(told, "nine", "report").ref, told.roots)
    assert (found.claim_id, found.claim_status) == ("c1", "supported")
    assert (found.finding_id, found.finding) == ("F2", "The tide rises by nine metres.")
    passage = found.passage
    assert PAGE[passage.start : passage.end] == passage.text == "The tide rises nine metres at Alder."
    assert passage.before.endswith("Alder. ")
    assert passage.url == "https://a.example/page"
    assert found.to_dict()["passage"]["source_id"] == "S1"


def test_a_claim_without_a_passage_leads_to_its_source(told: Home):
    found = follow(hit(told, "noon", "report").ref, told.roots)
    assert (found.claim_id, found.claim_status) == ("c2", "unsupported")
    assert (found.passage.source_id, found.passage.end) == ("S1", 0)
    assert found.passage.after.startswith("Harbour")


@pytest.mark.parametrize(
    ("words", "claim"),
    [
        ("Tides", ""),  # the heading: no claim says "tides"
        ("Tide", "c1"),  # stands in the heading first; the claim says it too
        ("Intro", ""),  # a sentence that claims nothing
        ("metres", "c1"),
        ('"[1]. Boats"', "c2"),  # begins in the citations of one claim and ends in the next
        ('"metres [1]"', "c1"),
        ("1]", "c1"),
        ("leave", "c2"),
    ],
)
def test_a_hit_leads_to_the_claim_it_stands_in_and_never_to_a_neighbour(told: Home, words, claim):
    assert follow(hit(told, words, "report").ref, told.roots).claim_id == claim


def test_a_hit_behind_the_last_claim_leads_to_no_claim(told: Home):
    folder = told.roots.runs / RUN
    (folder / "final_report.md").write_text(REPORT + "\nAfterword (of the harbour master) about boats.\n\n## Sources\n\nList.\n")
    for words in ("Afterword", "master", "List", "Sources"):
        assert follow(hit(told, words, "report").ref, told.roots).claim_id == ""


def test_where_the_place_is_not_known_the_first_claim_is_shown(told: Home):
    assert follow(hit(told, "NOT zebra", "report").ref, told.roots).claim_id == "c1"


def test_a_hit_in_a_finding_leads_to_the_passage_of_that_very_claim(told: Home):
    found = follow(hit(told, "rises", "finding").ref, told.roots)
    assert (found.finding_id, found.passage.text) == ("F2", "The tide rises nine metres at Alder.")
    assert follow(hit(told, "harbour", "finding").ref, told.roots).passage.text == "Harbour of Alder."


def test_a_hit_in_a_page_leads_to_its_place(told: Home):
    found = follow(hit(told, "noon", "source").ref, told.roots)
    assert found.passage.text == "noon"
    assert PAGE[found.passage.start : found.passage.end] == "noon"


def test_a_turn_leads_to_itself(told: Home):
    found = follow(hit(told, "tide", "prompt").ref, told.roots)
    assert (found.claim_id, found.passage) == ("", None)


@pytest.mark.parametrize("harm", ["ledger", "state", "page", "list"])
def test_a_way_that_is_broken_ends_where_it_breaks(told: Home, harm):
    folder = told.roots.runs / RUN
    ref = hit(told, "nine", "report").ref
    if harm == "ledger":
        (folder / "final_report.claims.json").write_text("{")
    elif harm == "list":
        (folder / "final_report.claims.json").write_text('{"claims": [3, {"delivered_span": [1, "x"]}, {"delivered_span": 4}]}')
    elif harm == "page":
        (folder / "sources" / "S1.md").unlink()
    else:
        (folder / "_run_state.json").unlink()
    found = follow(ref, told.roots)
    assert (found.passage is None) or harm == "none"
    assert bool(found.claim_id) == (harm in {"page", "state"})


def test_a_record_that_changed_or_went_is_told(told: Home):
    report, turn = hit(told, "nine", "report").ref, hit(told, "tide", "prompt").ref
    (told.roots.runs / RUN / "final_report.md").write_text("other")
    with pytest.raises(StateError, match="changed"):
        follow(report, told.roots)
    told.path(1).unlink()
    with pytest.raises(StateError, match="not there"):
        follow(turn, told.roots)
    (told.roots.runs / RUN / "final_report.md").unlink()
    with pytest.raises(StateError, match="not there"):
        follow(report, told.roots)


def packed(*data) -> str:
    return "ddref1:" + base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "ddref1:",
        "ddref1:!!!",
        "ddref2:WyJ4Il0",
        "ddref1:" + "A" * 2_000,
        packed(),
        packed("report", "../../etc", 0, 0, 0, "x"),
        packed("report", "", 0, 0, 0, "x"),
        packed("transcript", RUN, 0, 0, 0, "x"),
        packed("transcript", sid(1).upper().replace("0", "A"), 0, 0, 0, "x"),
        packed("history", sid(1), 0, 0, 0, "x"),
        packed("report", RUN, -1, 0, 0, "x"),
        packed("report", RUN, True, 0, 0, "x"),
        packed("report", RUN, 10**30, 0, 0, "x"),
        packed("report", RUN, 0, 5, 2, "x"),
        packed("report", RUN, 0, 0, 0, 3),
        packed("passwd", RUN, 0, 0, 0, "x"),
        packed(["report"], RUN, 0, 0, 0, "x"),
        "ddref1:" + base64.urlsafe_b64encode(b"[" * 500).decode(),
    ],
)
def test_what_is_no_reference_is_refused(home: Home, ref):
    with pytest.raises(UsageError):
        refs.inspect(ref, home.roots)


def test_a_lost_history_is_rebuilt_from_the_transcripts(home: Home):
    home.talk(1, "tide", "ebb")
    home.talk(2, "boats", "sails")
    before = {(r.session_id, r.text, r.ts_us // 1_000_000) for r in home.search("NOT zebra").records}
    home.roots.history.unlink()
    made = facade.rebuild_history()
    assert (made.added, made.known, made.transcripts, made.incomplete) == (2, 0, 2, 0)
    rebuilt = home.search("NOT zebra")
    assert {(s, t) for s, t, _ in before} == {(r.session_id, r.text) for r in rebuilt.records}
    assert rebuilt.summary.status.state == "complete"
    assert home.roots.history.stat().st_mode & 0o077 == 0
    again = facade.rebuild_history()
    assert (again.added, again.known) == (0, 2)


def test_a_rebuild_adds_and_never_takes_away(home: Home):
    home.prompt("/depth deep", None)
    home.session(1, "tide")
    kept = home.roots.history.read_text()
    facade.rebuild_history()
    assert home.roots.history.read_text().startswith(kept)
    assert {r.text for r in home.search("NOT zebra").records} == {"/depth deep", "tide"}


def test_a_partial_rebuild_says_so_in_every_later_search(home: Home):
    home.session(1, "tide")
    with home.session(2, "boats").open("a") as file:
        file.write("no json\n")
    assert facade.rebuild_history().incomplete == 1
    found = home.search("tide")
    assert [code.split(":")[0] for code in codes(found)] == ["history_incomplete_before"]
    assert (found.summary.status.state, found.summary.status.reason) == ("approximate", "history_incomplete")
    assert len(found.records) == 1


def test_what_the_store_writes_is_what_the_search_reads(home: Home):
    session = store.new_session()
    store.add_run_pointer(session, RUN)
    store.add_turn(session, "user", "wie hoch ist die Flut – école", RUN)
    store.add_turn(session, "assistant", "neun Meter", RUN)
    store.add_prompt("wie hoch ist die Flut – école", session_id=session, run_id=RUN, surface="tui", kind="research", meta={"model": "m"})
    found = home.everything("école")
    assert [(r.kind, r.session_id, r.run_id, r.role) for r in found.records] == [("prompt", session, RUN, "user")]
    assert found.summary.folded == 1
    assert "école".encode() in home.roots.history.read_bytes()
    row = json.loads(home.roots.history.read_text())
    assert {"v", "id", "ts", "session_id", "run_id", "surface", "kind", "text", "meta"} == set(row)
    assert len(row["id"]) == 26


def test_keys_are_masked_in_what_is_returned(home: Home):
    home.prompt("the key sk-abcdefghijklmnop0123 opens the tide")
    with home.session(1, "x").open("a") as file:
        file.write(dump({"n": 2, "role": "assistant", "text": "Bearer abcdefgh12345678 tide"}))
    found = facade.search_history({"terms": "tide", "scope": "all"})
    assert len(found.records) == 2
    assert not any("abcdefgh" in record.text for record in found.records)
    shown = [facade.open_ref(record.ref).record.text for record in found.records]
    assert not any("abcdefgh" in text for text in shown)


def test_typed_commands_are_noted_without_keys(home: Home):
    facade.note_prompt("/config api.openai_api_key=sk-abcdefghijklmnop0123", facade.load_settings(), surface="tui")
    row = json.loads(home.roots.history.read_text())
    assert (row["kind"], row["surface"], row["run_id"]) == ("command", "tui", None)
    assert "abcdefgh" not in row["text"]


def test_a_hit_in_the_list_of_sources_leads_to_the_stored_page(home: Home):
    home.run(
        RUN,
        1,
        report="# Tides\n\nNothing is claimed.\n\n## Sources\n\n[1] Alder. https://a.example/page",
        page="The tide at Alder is high.",
    )
    jump = follow(home.search("https://a.example/page", kinds=("report",)).records[0].ref, home.roots)
    assert jump.claim_id == ""
    assert (jump.passage.source_id, jump.passage.url) == ("S1", "https://a.example/page")
    assert jump.passage.after.startswith("The tide")


def test_a_hit_in_a_line_without_claim_and_source_leads_to_no_page(home: Home):
    home.run(RUN, 1, report="# Tides\n\nNothing is claimed.", page="The tide at Alder is high.")
    assert follow(home.search("claimed", kinds=("report",)).records[0].ref, home.roots).passage is None
