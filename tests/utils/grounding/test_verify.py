"""Any report against its sources: folders, mappings, bad input."""

import json
from pathlib import Path

import pytest

from deepdelve.utils.grounding import sources, verify
from deepdelve.utils.grounding.verify import verify_report

from .pairs import DAM, SOURCES

REPORT = f"# R\n\nThe Kalda Dam is 142 metres high [1]. It cost $1.2 million [1].\n\n## Sources\n\n[1] The dam: {DAM}\n"


def write(folder: Path, name: str, data: str | bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def layouts(folder: Path) -> dict[str, Path]:
    """Folders that hold one source, each in another way."""
    made = {name: folder / name for name in ("index", "label", "id", "noted", "html", "run", "utf16", "latin")}
    write(made["index"], "pages.jsonl", json.dumps({"url": DAM, "file": "pages/x.md"}))
    write(made["index"], "pages/x.md", SOURCES[DAM])
    write(made["label"], "1.md", SOURCES[DAM])
    write(made["id"], "S1.txt", SOURCES[DAM])
    write(made["noted"], "page.md", f"URL: {DAM}\n\n{SOURCES[DAM]}")
    write(made["html"], "1.html", f"<html><head><title>Dam</title></head><body><p>{SOURCES[DAM]}</p></body></html>")
    write(
        made["run"],
        "_run_state.json",
        json.dumps({"offset": 9, "state": {"sources": {"S1": {"id": "S1", "url": DAM, "file": "sources/S1.md"}}}}),
    )
    write(made["run"], "sources/S1.md", SOURCES[DAM])
    write(made["run"], "1.md", "What the run wrote is no source.")
    write(made["utf16"], "1.md", SOURCES[DAM].encode("utf-16"))
    write(made["latin"], "1.md", ("Café. " + SOURCES[DAM]).encode("latin-1"))
    return made


def test_every_layout_of_a_folder_is_understood(tmp_path: Path) -> None:
    for name, folder in layouts(tmp_path).items():
        found = verify_report(REPORT, folder)
        assert [claim.status for claim in found.claims] == ["supported", "contradicted"], name
        assert found.share == 0.5


def test_a_mapping_by_label_or_address() -> None:
    for key in (DAM, "1", "S1"):
        assert verify_report(REPORT, {key: SOURCES[DAM]}).counts.supported == 1, key


def test_bad_files_are_named_with_their_reason(tmp_path: Path) -> None:
    write(tmp_path, "1.md", b"\x00\x01\x02\x00" * 500)
    write(tmp_path, "2.png", b"\x89PNG")
    write(tmp_path, "sources.json", "not json")
    write(tmp_path, "index.jsonl", json.dumps({"url": "https://gone.example", "file": "gone.md"}))
    found = verify_report(REPORT, tmp_path)
    reasons = dict(found.unread)
    assert "binary" in reasons["1"] or "not among" in reasons["1"]
    assert "no text file" in reasons["2"]
    assert "JSON" in reasons["sources.json"]
    assert "missing" in reasons["https://gone.example"]
    assert found.counts.unchecked == 2


def test_a_claim_says_why_its_source_could_not_be_read(tmp_path: Path) -> None:
    listed = "\n".join(f"[{number}] https://site.example/{number}" for number in (1, 2, 3))
    report = f"# R\n\nThe dam is high [1]. The dam is old [2]. The dam is full [3].\n\n## Sources\n\n{listed}\n"
    write(tmp_path, "1.md", b"\x00\x01\x02\x00" * 500)
    write(tmp_path, "pages.jsonl", json.dumps({"url": "https://site.example/2", "file": "gone.md"}))
    found = verify_report(report, tmp_path)
    assert [reason.partition(": ")[2] for reason in (claim.reason for claim in found.claims)] == [
        "1.md is binary",
        "gone.md is missing",
        verify.NOT_GIVEN,
    ]
    assert [reason for _, reason in found.unread] == ["1.md is binary", "gone.md is missing", verify.NOT_GIVEN]


def test_a_bad_line_of_an_index_costs_only_itself(tmp_path: Path) -> None:
    write(tmp_path, "pages.jsonl", "no json\n" + json.dumps({"url": DAM, "file": "x.md"}) + "\n" + "[" * 100_000 + "\n")
    write(tmp_path, "x.md", SOURCES[DAM])
    found = verify_report(REPORT, tmp_path)
    assert found.counts.supported == 1
    assert found.unread == (("pages.jsonl", "2 of its lines are no valid JSON"),)


def test_an_index_beside_the_folder_names_its_files(tmp_path: Path) -> None:
    rows = [{"url": DAM, "file": "pages/x.md"}, {"url": "https://other.example", "file": "elsewhere.md"}]
    write(tmp_path, "pages.jsonl", "\n".join(map(json.dumps, rows)))
    write(tmp_path, "pages/x.md", SOURCES[DAM])
    write(tmp_path, "elsewhere.md", SOURCES[DAM])
    found = verify_report(REPORT, tmp_path / "pages")
    assert found.counts.supported == 1
    assert not found.unread


def test_what_was_not_read_stands_in_the_order_of_the_list() -> None:
    listed = "\n".join(f"[{number}] https://site.example/{number}" for number in range(1, 6))
    found = verify_report("The dam is high [2]. The dam is old [1][3][4][5].\n\n## Sources\n\n" + listed, {})
    assert [label for label, _ in found.unread] == ["1", "2", "3", "4", "5"]


def test_a_file_outside_of_the_folder_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "secret.md", SOURCES[DAM])
    write(tmp_path, "folder/pages.jsonl", json.dumps({"url": DAM, "file": "../secret.md"}))
    (tmp_path / "folder" / "1.md").symlink_to(tmp_path / "secret.md")
    assert verify_report(REPORT, tmp_path / "folder").counts.supported == 0


def test_no_folder_is_said_so(tmp_path: Path) -> None:
    found = verify_report(REPORT, tmp_path / "none")
    assert ("none", "there is no such folder") in found.unread
    assert "No source could be read." in found.notes


def test_a_stub_page_is_no_evidence() -> None:
    found = verify_report(REPORT, {DAM: "Just a moment...\n\nChecking your browser before accessing river.example"})
    assert {claim.status for claim in found.claims} == {"unchecked"}
    assert dict(found.unread)["1"]


def test_a_report_that_cites_nothing() -> None:
    found = verify_report("The Kalda Dam is 142 metres high.", {DAM: SOURCES[DAM]})
    assert found.counts.unsupported == 1
    assert "cites nothing" in found.notes[0]


@pytest.mark.parametrize("text", ["", "\n\n", "\x00\x00", "```\ncode only", "|||", "# \n## \n", "[](", "- \n- "])
def test_broken_reports_give_a_result(text: str) -> None:
    assert verify_report(text, {DAM: SOURCES[DAM]}).counts.total == 0


def test_nul_bytes_and_lone_surrogates() -> None:
    found = verify_report(REPORT.replace("high", "hi\x00gh") + "\ud800", {DAM: SOURCES[DAM]})
    assert found.counts.supported == 1


def test_a_huge_report_is_cut_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "LONGEST_REPORT", 100_000)
    found = verify_report(REPORT + "Padding without any end. " * 40_000, {DAM: SOURCES[DAM]})
    assert "only the first 100,000" in found.notes[0]


def test_conflicting_sources_are_named() -> None:
    report = "The plant has 620 MW [1]. The plant has 540 MW [2].\n\n## Sources\n[1] https://a.example\n[2] https://b.example\n"
    texts = {
        "https://a.example": "The Kalda plant had an installed capacity of 620 MW in 2022.",
        "https://b.example": "In 2022 the installed capacity of the Kalda plant was 540 MW.",
    }
    assert verify_report(report, texts).conflicts == ("1 says 620 mw, 2 says 540 mw",)


def test_the_result_is_plain_data() -> None:
    body = json.loads(json.dumps(verify_report(REPORT, {DAM: SOURCES[DAM]}).to_dict()))
    assert body["counts"]["supported"] == 1
    assert body["share_supported"] == 0.5
    assert {"claims", "problems", "unread", "conflicts", "notes"} <= body.keys()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\x00b", "ab"),
        ("é".encode(), "é"),
        ("café au lait".encode("latin-1"), "café au lait"),
        (b"\xef\xbb\xbfa", "a"),
        ("é".encode("utf-16"), "é"),
    ],
)
def test_decoding(data: bytes, text: str) -> None:
    assert sources.decode(data) == text


def test_a_huge_report_keeps_its_sources_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "LONGEST_REPORT", 10_000)
    body = "# R\n\n" + "The Kalda Dam is 142 metres high [1].\n\n" * 1_000
    found = verify_report(f"{body}## Sources\n\n[1] The dam: {DAM}\n", {DAM: SOURCES[DAM]})
    assert found.counts.supported == found.counts.total > 100
    assert not found.problems


def test_a_huge_report_of_one_line_is_checked_as_far_as_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "LONGEST_REPORT", 10_000)
    found = verify_report(
        "# R\n\n" + "The Kalda Dam is 142 metres high [1]. " * 1_000 + f"\n\n## Sources\n\n[1] {DAM}\n", {DAM: SOURCES[DAM]}
    )
    assert found.counts.supported > 100


@pytest.mark.parametrize(
    ("text", "placeholders"),
    [
        ("- [ ] todo\n- [x] done", 0),
        ("The todo list of the town is long.", 0),
        ("TODO: say more.", 1),
        ("The dam is high [TODO].", 1),
        ("The dam is high [todo].", 1),
    ],
)
def test_a_todo_is_a_placeholder_only_where_it_is_shouted_or_in_brackets(text: str, placeholders: int) -> None:
    found = verify_report(f"# R\n\n{text}\n", {})
    assert sum(problem.kind == "placeholder" for problem in found.problems) == placeholders


@pytest.mark.parametrize(
    ("claim", "source", "other"),
    [
        ("热泵可以在零下25度工作。", "Heat pumps work at -25 degrees Celsius.", True),
        ("Heat pumps work at minus 20 degrees.", "热泵可以在零下25度工作。", True),
        ("Насосы работают при 25 градусах.", "Heat pumps work at 25 degrees.", True),
        ("Pumps of the town are blue and old.", "Heat pumps work at -25 degrees Celsius.", False),
    ],
)
def test_a_source_in_another_script_is_the_reason_that_is_told(claim: str, source: str, other: bool) -> None:
    found = verify_report(f"# R\n\n{claim} [1]\n\n## Sources\n\n[1] https://a.example\n", {"https://a.example": source})
    assert found.claims[0].status in {"partial", "unsupported"}
    assert ("another script" in found.claims[0].reason) is other
