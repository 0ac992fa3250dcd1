"""verify, show --claims and --usage, finish, replay, bundle, doctor, fetch: over the real engine with the built-in backend."""

import io
import json
import re
import tarfile
from pathlib import Path

import pytest

from deepdelve.cli.main import main
from deepdelve.engine import facade, store

HSTS = (
    "# HSTS\n\nHTTP Strict Transport Security is a policy that makes browsers connect over HTTPS only. "
    "The policy was published as RFC 6797 in November 2012. Its max-age is given in seconds.\n"
)
COOKIES = "# Cookies\n\nA cookie with the Secure attribute is sent over HTTPS only. Cookies were first used in 1994 by Netscape.\n"


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "hsts.md").write_text(HSTS)
    (folder / "cookies.md").write_text(COOKIES)
    return folder


@pytest.fixture
def run_id(corpus, capsys):
    code = main(["run", "What is HTTP Strict Transport Security?", "--corpus", str(corpus), "--backend", "builtin", "--record", "--json"])
    assert code == 0
    return json.loads(capsys.readouterr().out)["run_id"]


def test_a_report_of_any_system_is_checked_against_a_folder(tmp_path, capsys):
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "1.md").write_text(HSTS)
    report = tmp_path / "report.md"
    report.write_text(
        "HSTS was published as RFC 6797 in November 2012 [1]. HSTS was published as RFC 6797 in March 2007 [1].\n\n## Sources\n\n[1] HSTS. https://example.org/hsts\n"
    )
    assert main(["verify", str(report), "--sources", str(sources), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [c["status"] == "supported" for c in result["claims"] if c["needs_citation"]] == [True, False]
    assert main(["verify", str(report), "--sources", str(sources), "--fail-under", "0.9"]) == 5
    assert "1 of 2 claims supported" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify"],
        ["verify", "missing.md", "--sources", "."],
        ["verify", "x.md", "--sources", "nowhere"],
        ["verify", "x.md", "--fail-under", "2"],
        ["verify", "empty.md"],
        ["verify", "binary.md"],
        ["verify", "."],
    ],
)
def test_what_cannot_be_verified_is_one_line_and_exit_2(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "binary.md").write_bytes(bytes(range(256)) * 20)
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_a_report_may_come_through_a_pipe(tmp_path, capsys, monkeypatch):
    (tmp_path / "hsts.md").write_text(HSTS)
    report = b"HSTS was published as RFC 6797 in November 2012 [1].\n\n## Sources\n\n[1] hsts.md\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(report)))
    assert main(["verify", "-", "--sources", str(tmp_path)]) == 0
    assert "1 of 1 claims supported" in capsys.readouterr().out


def test_a_problem_that_comes_often_is_told_once_with_its_number(tmp_path, capsys):
    report = tmp_path / "report.md"
    report.write_text("HSTS is RFC 6797 of 2012 [7].\n\n" * 30)
    assert main(["verify", str(report)]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("problem")]
    assert told == ["problem      dangling: [7] names 7, which no source has (30 times)"]


def test_what_is_left_out_of_the_list_of_unread_sources_is_counted(tmp_path, capsys):
    report = tmp_path / "report.md"
    listed = "\n".join(f"[{number}] https://site.example/{number}" for number in range(1, 251))
    report.write_text("\n".join(f"[{number}]" for number in range(1, 251)) + f"\n\n## Sources\n{listed}\n")
    assert main(["verify", str(report)]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if "not read" in line]
    assert len(told) == 201
    assert told[0] == "not read     1: not among the sources given"
    assert told[-1] == "and 50 more that were not read; --json lists all"


def test_documents_of_the_sources_folder_are_read_whatever_their_type(tmp_path, capsys):
    pdf = Path(__file__).parents[2] / "examples" / "corpus" / "directive-22-01.pdf"
    (tmp_path / "1.pdf").write_bytes(pdf.read_bytes())
    (tmp_path / "2.pdf").write_bytes(b"%PDF-1.7 cut")
    report = tmp_path / "report.txt"
    report.write_text(
        "CISA issued Binding Operational Directive 22-01 [1]. It is long [2].\n\n## Sources\n\n[1] https://a.example/x\n[2] https://b.example/y\n"
    )
    assert main(["verify", str(report), "--sources", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "1 of" in out.splitlines()[0]
    assert "2.pdf: The PDF is damaged" in out


@pytest.mark.parametrize("style", ["standard", "academic", "answer"])
def test_a_delivered_report_has_the_same_counts_when_it_is_verified_as_any_other(style, corpus, capsys):
    """Its numbers are not those of the run's sources, and what it says of itself is no claim."""
    question = "What is HTTP Strict Transport Security, and how are cookies protected?"
    main(["run", question, "--corpus", str(corpus), "--backend", "builtin", "--style", style, "--json"])
    result = json.loads(capsys.readouterr().out)
    report = f"{result['dir']}/final_report.md"
    for place in (["--run", result["run_id"]], ["--sources", f"{result['dir']}"]):
        main(["verify", report, *place, "--json"])
        checked = json.loads(capsys.readouterr().out)
        assert checked["counts"] == result["claims"], place
        assert not checked["problems"]


def test_a_paged_document_is_listed_with_the_pages_that_the_report_rests_on(tmp_path, capsys):
    pdf = Path(__file__).parents[2] / "examples" / "corpus" / "directive-22-01.pdf"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "directive.pdf").write_bytes(pdf.read_bytes())
    main(
        [
            "run",
            "What does the directive say about known exploited vulnerabilities?",
            "--corpus",
            str(tmp_path / "docs"),
            "--backend",
            "builtin",
        ]
    )
    entry = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("[1] ") and "directive.pdf" in line)
    assert re.search(r"directive\.pdf, p\. \d", entry)


def test_the_first_lines_say_when_a_part_of_the_question_found_no_answer(corpus, capsys):
    main(
        ["run", "What is HTTP Strict Transport Security? What is the capital of Mongolia?", "--corpus", str(corpus), "--backend", "builtin"]
    )
    top = capsys.readouterr().out.split("\n# ")[0]
    assert "One part of the question found no answer in the sources." in top
    main(["run", "What is HTTP Strict Transport Security?", "--corpus", str(corpus), "--backend", "builtin"])
    assert "found no answer" not in capsys.readouterr().out


def test_sources_that_contradict_each_other_are_told_side_by_side_and_the_report_is_verified(tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    for name, metres in (("a", 300), ("b", 450), ("c", 300)):
        text = f"# Zebra Bridge {name}\n\nThe Zebra Bridge is {metres} metres long. It was built by the town of {name * 4}.\n"
        (tmp_path / "docs" / f"{name}.md").write_text(text)
    assert main(["run", "How long is the Zebra Bridge?", "--corpus", str(tmp_path / "docs"), "--backend", "builtin"]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r'Sources differ: "The Zebra Bridge is \d+ metres long" \[\d(?:, \d)?\]; "The Zebra Bridge is \d+ metres long" \[', out
    )
    assert "Verified." in out


def test_a_run_is_verified_against_its_own_sources(run_id, capsys):
    assert main(["verify", "--run", run_id]) == 0
    assert main(["verify", "latest"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("2 of 2") or " claims supported, 0 partly, 0 not" in out
    assert facade.verify_run(run_id)


def test_the_ledger_is_shown_with_passages(run_id, capsys):
    assert main(["show", run_id, "--claims"]) == 0
    out = capsys.readouterr().out
    assert "supported" in out
    assert "sources/S" in out


def test_usage_is_shown_by_role_and_by_step(run_id, capsys):
    assert main(["show", run_id, "--usage"]) == 0
    out = capsys.readouterr().out
    assert out.index("By role:") < out.index("  Planner: ") < out.index("By step:") < out.index("  writing report: ")
    assert main(["show", run_id, "--usage", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["roles"]["Searcher"]["calls"] >= 1


def test_usage_names_the_models_where_there_were_several_and_what_has_no_price(capsys):
    from deepdelve.cli.show_command import _print_usage

    row = {"calls": 2, "tokens_in": 10, "tokens_out": 1, "seconds": 0.5, "estimated": False}
    told = {**row, "cost": 0.5, "unpriced": ["small_one"], "roles": {"Planner": row}, "steps": {"writing_report": row}}
    _print_usage({**told, "models": {"main": {**row, "cost": 0.5}, "small_one": row}}, as_json=False)
    out = capsys.readouterr().out
    assert "cost 0.5 (without small_one: no price is set)" in out
    assert out.index("By step:\n  writing report: ") < out.index("By model:\n  main: 2 calls") < out.index("  small_one: ")
    _print_usage({**told, "models": {"main": row}}, as_json=False)
    assert "By model" not in capsys.readouterr().out


def test_a_run_that_was_not_recorded_is_refused_before_anything_starts(corpus, capsys):
    assert main(["run", "What is HTTP Strict Transport Security?", "--corpus", str(corpus), "--backend", "builtin"]) == 0
    capsys.readouterr()
    assert main(["replay", "latest"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "was not recorded. Only runs that were started with --record can be replayed." in said.err
    assert said.err.count("\n") == 1


def test_a_replay_is_the_same_to_the_byte(run_id, corpus, capsys):
    for path in corpus.iterdir():
        path.unlink()
    assert main(["replay", run_id]) == 0
    assert "the same to the byte" in capsys.readouterr().out


def test_a_bundle_can_be_opened(run_id, tmp_path, capsys):
    target = tmp_path / "b.tar.gz"
    assert main(["bundle", run_id, "--to", str(target)]) == 0
    assert capsys.readouterr().out.strip() == str(target)
    with tarfile.open(target) as archive:
        assert f"{run_id}/journal.jsonl" in archive.getnames()


def test_a_bundle_goes_into_a_folder_that_is_named(run_id, tmp_path, capsys):
    assert main(["bundle", run_id, "--to", str(tmp_path)]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / f"{run_id}.tar.gz")


@pytest.mark.parametrize("command", [["bundle", "--to"], ["show", "--export-evidence"]])
def test_a_place_that_cannot_be_written_is_no_matter_of_the_home_folder(run_id, tmp_path, capsys, command):
    (tmp_path / "file").write_text("kept")
    assert main([command[0], run_id, command[1], str(tmp_path / "file" / "deeper")]) == 4
    told = capsys.readouterr().err
    assert "name another" in told
    assert "DEEPDELVE_HOME" not in told


def test_evidence_goes_into_no_file(run_id, tmp_path, capsys):
    (tmp_path / "file").write_text("kept")
    assert main(["show", run_id, "--export-evidence", str(tmp_path / "file")]) == 2
    assert "is no folder" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "kept"


def test_evidence_whose_text_is_gone_is_named_and_nothing_is_written(run_id, tmp_path, capsys):
    for path in (store.find_run(run_id) / "sources").glob("*.md"):
        path.unlink()
    assert main(["show", run_id, "--export-evidence", str(tmp_path / "out")]) == 4
    assert re.search(r"The text of S\d+ is gone", capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_a_local_file_is_printed_as_agents_read_it(corpus, capsys):
    assert main(["fetch", str(corpus / "hsts.md")]) == 0
    out = capsys.readouterr().out
    assert "title: HSTS" in out
    assert "RFC 6797" in out


def test_an_internal_address_is_not_fetched(capsys):
    assert main(["fetch", "http://127.0.0.1:1/"]) == 4
    assert "not a public address" in capsys.readouterr().err
    assert main(["fetch", "nowhere.md"]) == 2
    assert "There is no file nowhere.md." in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_one_line_with_the_reason_and_exit_4(tmp_path, capsys):
    (tmp_path / "picture.pdf").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    (tmp_path / "program").write_bytes(b"\x7fELF" + bytes(99))
    (tmp_path / "nothing.txt").write_bytes(b"")
    for name, reason in {"picture.pdf": "a PNG image", "program": "a program", "nothing.txt": "no text in it"}.items():
        assert main(["fetch", str(tmp_path / name)]) == 4
        out, err = capsys.readouterr()
        assert out == ""
        assert reason in err
        assert "Give another copy of it" in err
        assert err.count("\n") == 1
    assert main(["fetch", str(tmp_path)]) == 2
    assert "is a folder. Name one file of it" in capsys.readouterr().err


def test_the_doctor_says_what_mends_each_fault(corpus, capsys, monkeypatch):
    monkeypatch.setenv("DEEPDELVE_SEARCH__CORPUS", str(corpus))
    assert main(["doctor", "--backend", "builtin", "--quick", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["home"]["ok"]
    assert rows["search"]["ok"]
    assert main(["search-health"]) == 0
    assert "corpus" in capsys.readouterr().out
