"""``search``, ``open`` and ``history`` over real files: what is printed, and which exit code tells what."""

import json
import shlex
from pathlib import Path

import pytest

from deepdelve.cli.main import main
from tests.engine.history.support import Home, sid

RUN = "20260101_000000_abcdef"


@pytest.fixture
def home(isolated) -> Home:
    kept = Home(isolated)
    kept.talk(1, "how high is the tide", "nine metres of tide")
    kept.run(RUN, 1, report="# Tides\n\nThe tide is high.", finding="The tide rises.", page="The tide on a page.")
    return kept


def says(capsys, *arguments: str):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_a_search_prints_records_with_their_references_and_says_how_far_it_goes(home, capsys):
    code, out, err = says(capsys, "search", "tide")
    assert code == 0
    assert "how high is the tide" in out
    assert "ddref1:" in out
    assert "1 record found. (complete; 1 source of 1 read, 1 record)" in err
    assert "next: --deep" in err


def test_json_is_one_object_of_summary_and_records(home, capsys):
    code, out, _ = says(capsys, "search", "tide", "--scope", "all", "--json")
    answer = json.loads(out)
    assert (code, set(answer)) == (0, {"summary", "records"})
    assert {row["kind"] for row in answer["records"]} == {"prompt", "reply", "finding", "report"}
    assert answer["summary"]["match_count"] == 4
    assert answer["summary"]["status"] == {"state": "complete", "reason": "", "conditions": []}


def test_ndjson_is_one_record_a_line_and_the_summary_last(home, capsys):
    _, out, _ = says(capsys, "search", "tide", "--deep", "--ndjson")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [set(row) == {"summary"} for row in rows] == [False, False, True]
    assert rows[-1]["summary"]["status"]["state"] == "approximate"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["tide"], 0),
        (["cheese"], 1),
        (["cheese", "--deep"], 1),
        (["tide", "--deep", "--exhaustive"], 2),
        (["tide", "--conversation-limit", "3"], 2),
        (["tide", "--limit", "0"], 2),
        (["tide", "--scope", "prompts", "--deep"], 2),
        (["tide", "--scope", "al"], 2),
        ([], 2),
        (["(", "--regex"], 2),
        (["tide", "--kinds", "poem"], 2),
        (["tide", "--since", "soon"], 2),
        (["--run", RUN], 1),
    ],
)
def test_exit_codes_tell_found_nothing_and_wrong(home, capsys, arguments, code):
    assert says(capsys, "search", *arguments)[0] == code


def test_a_search_that_was_not_brought_to_its_end_exits_3_with_what_it_has(home, capsys):
    home.roots.history.unlink()
    home.roots.history.mkdir()
    code, out, err = says(capsys, "search", "tide", "--scope", "all")
    assert code == 3
    assert "nine metres" in out
    assert "error: The prompt history could not be read. Mend its permissions" in err


def test_options_reach_the_search(home, capsys):
    assert says(capsys, "search", "Tide", "--case-sensitive")[0] == 1
    assert says(capsys, "search", "tide", "cheese", "--any")[0] == 0
    assert says(capsys, "search", "high metres", "--scope", "all", "--match-unit", "conversation")[0] == 0
    assert says(capsys, "search", "tide", "--exclude-session", sid(1))[0] == 1
    assert says(capsys, "search", "t.de", "--regex", "--order", "relevance", "--limit", "1")[0] == 0
    assert says(capsys, "search", "page", "--kinds", "source")[0] == 0


def test_a_reference_opens_down_to_the_passage(home, capsys):
    ref = json.loads(says(capsys, "search", "rises", "--kinds", "finding", "--json")[1])["records"][0]["ref"]
    code, out, _ = says(capsys, "open", ref)
    assert code == 0
    assert "finding F1\nThe tide rises." in out
    assert "S1, characters 0-19" in out
    assert "https://a.example/page" in out
    assert json.loads(says(capsys, "open", ref, "--json")[1])["passage"]["url"] == "https://a.example/page"


@pytest.mark.parametrize(("ref", "code"), [([], 2), (["ddref1:x"], 2), (["/etc/passwd"], 2)])
def test_what_is_no_reference_is_one_line_and_exit_2(home, capsys, ref, code):
    got, _, err = says(capsys, "open", *ref)
    assert (got, err.count("\n")) == (code, 1)


def test_text_of_others_cannot_steer_the_terminal(home, capsys):
    home.prompt("tide \x1b[31mred\x07 \u202eevil")
    _, out, _ = says(capsys, "search", "tide")
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_history_is_rebuilt_and_indexed(home, capsys):
    home.roots.history.unlink()
    code, out, _ = says(capsys, "history", "rebuild")
    assert (code, out) == (0, "1 prompt added from 1 conversation; 0 were there.\n")
    code, out, _ = says(capsys, "history", "index", "--json")
    assert (code, json.loads(out)["indexed"]) == (0, 2)
    used = json.loads(says(capsys, "search", "cheese", "--scope", "all", "--json")[1])["summary"]["index"]
    assert (used["used"], used["sources_live"]) == (True, 1)
    err = says(capsys, "search", "zebra", "--scope", "all")[2]
    assert "1 source of 3 read, 2 ruled out by the index" in err
    assert says(capsys, "history", "burn")[0] == 2


def test_the_searches_of_the_documentation_are_understood(home, capsys):
    page = (Path(__file__).resolve().parents[2] / "docs" / "history.md").read_text("utf-8")
    lines = [line.split("  ")[0] for line in page.splitlines() if line.startswith("deepdelve search")]
    assert len(lines) == 4
    for line in lines:
        assert says(capsys, *shlex.split(line)[1:])[0] in {0, 1}, line
