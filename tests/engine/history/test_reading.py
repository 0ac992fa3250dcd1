"""Matching and reading: letters of any form, files that are broken, growing, huge or no files at all."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdelve.core.errors import UsageError
from deepdelve.engine.history import files, index, match, sources
from deepdelve.engine.history.files import Notes
from deepdelve.engine.history.match import Matcher, Prefilter, norm
from deepdelve.engine.history.parse import parse
from tests.engine.history.support import Home, codes, dump, sid

RUN = "20260101_000000_abcdef"


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("école", "L'ÉCOLE"),
        ("ÉCOLE", "l'école"),
        ("école", "l'e\u0301cole"),
        ("e\u0301cole", "l'école"),
        ("strasse", "Straße"),
        ("straße", "STRASSE"),
        ("İstanbul", "İSTANBUL"),
        ("i\u0307stanbul", "İstanbul"),
        ("kelvin", "\u212aelvin"),
        ("file", "a ﬁle"),
        ("ｆｕｌｌ", "full width"),
        ("full", "ｆｕｌｌ width"),
        ("東京", "東京タワー"),
        ('"high tide"', "HIGH\n\t  tide"),
        ('say"', 'say"hello'),
        ("c:\\tide", "c:\\tide\\x"),
        ("a/b", "a/b"),
    ],
)
def test_a14_letters_are_found_in_any_form(home: Home, term, text, indexed):
    home.session(1, "x", text)
    home.session(2, "x", "nothing of that")
    if indexed:
        index.update(home.roots)
    terms = term if term.startswith('"') else term.replace('"', "")
    assert [r.text for r in home.everything(terms, indexed=indexed).records] == [text]


@given(st.lists(st.sampled_from([b"{", b"}", b"\n", b"a", b"{}\n", b"}\n{"]), max_size=12).map(b"".join))
def test_a_block_is_passed_over_only_where_each_line_looks_like_an_object(data):
    lines = data[:-1].split(b"\n") if data.endswith(b"\n") else []
    whole = bool(lines) and all(line.startswith(b"{") and line.endswith(b"}") for line in lines)
    assert sources._all_closed(data) == (whole and len(data) > 2)


@given(st.lists(st.sampled_from([b"\\", b"u", b"n", b'"', b"\\u0074"]), max_size=12).map(b"".join))
def test_an_escape_that_may_spell_a_letter_is_seen(data):
    assert match._escaped(data) == (b"\\u" in data)


@pytest.mark.parametrize("indexed", [False, True])
def test_a14_a_letter_that_is_escaped_in_the_file_is_found(home: Home, indexed):
    path = home.session(1, "x")
    with path.open("a") as file:
        file.write('{"n": 2, "ts": null, "role": "assistant", "text": "l\'\\u00c9COLE \\u0061bc"}\n')
    if indexed:
        index.update(home.roots)
    assert len(home.everything("école", indexed=indexed).records) == 1
    assert len(home.everything("abc", indexed=indexed).records) == 1
    assert len(home.everything("école", case_sensitive=True, indexed=indexed).records) == 0


def test_a_prefilter_leaves_out_only_what_cannot_match():
    tide = Prefilter(parse("tide (bay OR sea)").expression)
    assert tide.searches == (((b"tide",), (b"bay", b"sea")),)
    assert tide.excludes(b'{"text":"tide"}\n')
    assert not tide.excludes(b'{"text":"TIDE in the Bay"}\n')
    assert not tide.excludes(b'{"text":"\\u0074ide"}\n')
    assert not tide.excludes('{"text":"ﬁ"}\n'.encode())
    for untestable in ('"a b"', "é", "a\\b", "x/y", "NOT tide", "tide OR NOT bay"):
        assert not Prefilter(parse(untestable).expression)


@pytest.mark.parametrize(
    ("terms", "text", "held"),
    [
        ("straße", "In der Strasse", "Strasse"),
        ("école", "l'e\u0301cole!", "e\u0301cole"),
        ("tide", "high tide", "tide"),
        ("file", "a ﬁle", "ﬁle"),
        ("absent", "text", ""),
    ],
)
def test_the_place_of_a_match_is_in_characters_of_the_text_itself(terms, text, held):
    start, end = Matcher(parse(terms).expression).locate(text)
    assert text[start:end] == held


def test_case_counts_where_asked(home: Home):
    home.session(1, "Tide", "tide")
    assert home.texts("Tide", case_sensitive=True) == ["Tide"]


def test_a15_what_is_broken_costs_its_line_and_is_named(home: Home):
    path = home.session(1, "tide one", "tide two")
    with path.open("ab") as file:
        file.write(b'{"n": 3, "role": "user", "text": "tide \xff"}\n')
        file.write(b"no json, tide\n[1]\n\n")
        file.write(dump({"n": 4, "ts": "x", "role": "user", "text": "tide three"}).encode())
        file.write(b'{"n": 5, "role": "user", "text": "tide fo')
    found = home.everything("tide")
    assert {r.text for r in found.records} == {"tide one", "tide two", "tide three"}
    told = codes(found)
    assert (told["malformed_records"], told["torn_tail"]) == (3, 1)
    status = found.summary.status
    assert status.state == "approximate"
    assert {"malformed_records", "torn_tail"} <= set(status.conditions)
    assert found.summary.certificate is None


def test_a15_a_broken_line_is_named_though_no_line_matches(home: Home):
    with home.session(1, "tide").open("a") as file:
        file.write("no json\n")
    assert codes(home.everything("cheese"))["malformed_records"] == 1


def test_a15_bytes_of_a_report_that_are_no_text_are_replaced(home: Home):
    (home.run(RUN, 1, report="x") / "final_report.md").write_bytes(b"tide \xff report")
    found = home.everything("tide")
    assert found.records[0].text == "tide \ufffd report"
    assert codes(found)["encoding_replaced"] == 1


def test_a15_half_a_surrogate_pair_harms_nobody(home: Home):
    with home.session(1, "x").open("a") as file:
        file.write('{"n": 2, "role": "user", "text": "tide \\ud800"}\n')
    assert json.dumps(home.everything("tide").to_dict(), ensure_ascii=False).encode()


def changing(monkeypatch, change):
    """Carries out a change after the first reading of a file."""
    plain = os.read
    done = []

    def read(fd, size):
        data = plain(fd, size)
        if not done and b'"session"' in data:
            done.append(change())
        return data

    monkeypatch.setattr(files.os, "read", read)


def test_a16_a_file_that_grows_is_searched_as_it_was(home: Home, monkeypatch):
    path = home.session(1, "tide")

    def grow():
        with path.open("a") as file:
            file.write(dump({"n": 2, "role": "assistant", "text": "later tide"}))

    changing(monkeypatch, grow)
    found = home.everything("tide")
    assert [r.text for r in found.records] == ["tide"]
    assert codes(found)["source_grew"] == 1
    assert found.summary.status.state == "complete"


@pytest.mark.parametrize("how", ["cut", "replaced", "removed", "rewritten"])
def test_a16_a_file_that_is_cut_or_replaced_is_named(home: Home, monkeypatch, how):
    path = home.session(1, "tide", "ebb tide")

    def change():
        if how == "cut":
            os.truncate(path, 10)
        elif how == "removed":
            path.unlink()
        elif how == "rewritten":
            os.utime(path, ns=(1, 1))
        else:
            other = path.with_name("other")
            other.write_text("x")
            other.replace(path)

    changing(monkeypatch, change)
    found = home.everything("tide")
    assert codes(found)["source_changed"] == 1
    assert found.summary.status.state == "approximate"
    assert len(found.records) == 2


def test_entries_that_are_no_files_are_named_and_never_opened(home: Home, tmp_path):
    home.session(1, "tide")
    os.mkfifo(home.path(2))
    home.path(3).mkdir()
    outside = tmp_path / "outside.jsonl"
    outside.write_text(dump({"type": "session", "session_id": sid(4)}) + dump({"n": 1, "role": "user", "text": "tide outside"}))
    home.path(4).symlink_to(outside)
    home.path(5).symlink_to("/dev/zero")
    (home.roots.sessions / "notes.txt").write_text("tide")
    folder = home.run(RUN, 1, report="tide report")
    folder.with_name("20260101_000000_fedcba").symlink_to(folder)
    found = home.everything("tide")
    assert {r.text for r in found.records} == {"tide", "tide report"}
    assert codes(found)["unsupported_source"] == 5
    assert found.summary.coverage.sources_unsupported == 5
    assert found.summary.status.state == "approximate"


def test_a_linked_folder_of_pages_is_not_followed(home: Home, tmp_path):
    folder = home.run(RUN, 1, page="tide page")
    (folder / "sources").rename(tmp_path / "sources")
    (folder / "sources").symlink_to(tmp_path / "sources")
    found = home.everything("tide", kinds=("source",))
    assert not found.records
    assert codes(found)["unsupported_source"] == 1


def test_a_file_name_of_a_source_is_never_a_path(home: Home, tmp_path):
    folder = home.run(RUN, 1, page="tide page")
    (tmp_path / "secret.md").write_text("tide secret")
    state = json.loads((folder / "_run_state.json").read_text())
    state["state"]["sources"]["S1"]["file"] = "../../../secret.md"
    (folder / "_run_state.json").write_text(json.dumps(state))
    assert home.texts("tide", kinds=("source",)) == []


def test_a_transcript_of_two_gigabytes_is_read_within_bounds(home: Home, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 8 * 1024 * 1024)
    path = home.session(1, "tide")
    with path.open("r+b") as file:
        file.truncate(2 * 1024**3)
    home.session(2, "another tide")
    found = home.everything("tide")
    assert {r.text for r in found.records} == {"tide", "another tide"}
    assert codes(found)["source_limit"] == 1
    assert found.summary.coverage.sources_bounded == 1
    assert (found.summary.status.state, found.summary.outcome) == ("approximate", "undetermined")


def test_a_line_that_is_too_long_is_dropped_and_the_next_one_is_read(home: Home, monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1_000)
    monkeypatch.setattr(files, "CHUNK_BYTES", 300)
    path = home.session(1, "tide first", "tide " + "x" * 5_000, "tide last")
    found = home.everything("tide")
    assert {r.text for r in found.records} == {"tide first", "tide last"}
    assert codes(found)["record_too_large"] == 1
    ordinals = sorted(r.ordinal for r in found.records)
    assert [path.read_text().split("\n")[n][:8] for n in ordinals] == ['{"n": 1,', '{"n": 3,']


def test_lines_are_the_same_whatever_the_size_of_a_reading(home: Home, monkeypatch):
    path = home.session(1, *[f"tide {n}" for n in range(40)])
    whole = [r.ref for r in home.everything("tide").records]
    for size in (1, 7, 64, 1_000):
        monkeypatch.setattr(files, "CHUNK_BYTES", size)
        assert [r.ref for r in home.everything("tide").records] == whole
        assert b"".join(block.data for block in files.blocks(path, Notes(), lambda: None)) == path.read_bytes()


@pytest.mark.parametrize(
    "state", ["", "[]", '{"state": 3}', '{"state": {}}', "[" * 100_000, '{"offset": 0, "state": {"run_id": 1, "findings": [1]}}']
)
def test_a_broken_snapshot_costs_the_run_and_nothing_else(home: Home, state):
    home.session(1, "tide")
    folder = home.run(RUN, 1, finding="tide finding", report="tide report")
    (folder / "_run_state.json").write_text(state)
    assert {r.text for r in home.everything("tide").records} == {"tide", "tide report"}


def test_a_run_that_cannot_be_read_fails_the_search_and_the_rest_is_returned(home: Home, monkeypatch):
    home.session(1, "tide")
    home.run(RUN, 1, report="tide report")
    plain = files.open_regular

    def refuse(path):
        if Path(path).name == "final_report.md":
            raise PermissionError(13, "denied")
        return plain(path)

    monkeypatch.setattr(files, "open_regular", refuse)
    found = home.everything("tide")
    assert [r.text for r in found.records] == ["tide"]
    assert (found.summary.status.state, found.summary.status.reason) == ("failed", "source_failed")
    assert found.summary.coverage.sources_failed == 1


def test_a_folder_that_cannot_be_listed_fails_the_search(home: Home):
    home.roots.sessions.rmdir()
    home.roots.sessions.write_text("x")
    found = home.everything("tide")
    assert found.summary.status.reason == "discovery_failed"
    assert found.summary.outcome == "undetermined"


def test_a28_a_pattern_that_explodes_is_stopped(home: Home, monkeypatch):
    monkeypatch.setattr(match, "PATTERN_SECONDS", 0.2)
    home.session(1, "a" * 40 + "b", "tide")
    found = home.everything("(a|aa)+$", regex=True)
    assert found.summary.status.reason == "pattern_timeout"
    assert found.summary.outcome == "undetermined"


def test_patterns_find_what_they_describe_and_bad_ones_are_refused(home: Home):
    home.session(1, "tide of 1999", "tide")
    assert home.texts(r"\d{4}", regex=True) == ["tide of 1999"]
    found = home.everything(r"T[ia]de", regex=True).records[0]
    assert found.text[slice(*found.span)] == "tide"
    with pytest.raises(UsageError):
        home.everything("(tide", regex=True)


def test_a_record_too_long_for_a_pattern_is_named(home: Home, monkeypatch):
    monkeypatch.setattr(match, "MAX_PATTERN_TEXT", 100)
    home.session(1, "tide " + "x" * 200, "tide")
    found = home.everything("tide", regex=True)
    assert [r.text for r in found.records] == ["tide"]
    assert codes(found)["record_too_large"] == 1


def test_normalization_is_the_documented_one():
    assert norm("ＡＢＣ Straße É") == "abc strasse é"


@settings(max_examples=150, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.text("tide ſKﬁ½e\u0301\u0316ß", max_size=12),
    st.sampled_from(["ti", "de", "fi", "ss", "k", "1"]),
)
def test_a14_no_text_that_holds_a_word_is_left_out(before, middle, word):
    text = before + middle
    line = dump({"text": text}).encode()
    if word in norm(text):
        assert not Prefilter(parse(word).expression).excludes(line)


@pytest.mark.parametrize(("options", "code"), [({}, "history_unreadable"), ({"deep": True}, "targeted_evidence_failure")])
def test_a07_a_prompt_history_that_is_no_file_is_named_and_what_mends_it_said(home: Home, options, code):
    home.session(1, "tide")
    home.roots.history.mkdir()
    summary = home.search("tide", **options).summary
    assert [(note.code, note.severity) for note in summary.diagnostics] == [(code, "error")]
    assert summary.status.reason == code
    assert summary.outcome == "undetermined"
    assert "history rebuild" in summary.diagnostics[0].message


def test_a07_the_rest_is_returned_where_the_prompt_history_is_no_file(home: Home):
    home.session(1, "tide")
    home.roots.history.mkdir()
    found = home.everything("tide")
    assert [record.text for record in found.records] == ["tide"]
    assert (found.summary.status.state, found.summary.status.reason) == ("failed", "history_unreadable")


@pytest.mark.parametrize("indexed", [False, True])
def test_a_turn_of_a_role_that_is_not_ours_is_searched(home: Home, indexed):
    with home.session(1, "x").open("a") as file:
        file.write(dump({"n": 2, "role": "system", "text": "tide from the system"}) + dump({"n": 3, "role": "narrator", "text": "tide"}))
    if indexed:
        index.update(home.roots)
    found = home.everything("tide", indexed=indexed)
    assert {(r.kind, r.role) for r in found.records} == {("reply", "system"), ("reply", "narrator")}
    assert (found.summary.status.state, codes(found)) == ("complete", {"history_missing": 1})
    assert [r.role for r in home.everything("tide role:system", indexed=indexed).records] == ["system"]


@pytest.mark.parametrize("role", [None, 3, ["user"], {"user": 1}, True])
def test_a_turn_that_says_no_role_is_no_record_and_is_named(home: Home, role):
    with home.session(1, "tide").open("a") as file:
        file.write(dump({"n": 2, "role": role, "text": "tide of nobody"}))
    found = home.everything("tide")
    assert [r.text for r in found.records] == ["tide"]
    assert (codes(found)["malformed_records"], found.summary.status.state) == (1, "approximate")
