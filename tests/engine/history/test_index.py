"""The index may only leave out what cannot match, and is never needed."""

import fcntl
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdelve.core.errors import UsageError
from deepdelve.engine.history import index
from deepdelve.engine.history.index import HistoryIndex, expression_query, update
from deepdelve.engine.history.parse import parse
from tests.engine.history.support import Home, codes, dump

RUN = "20260101_000000_abcdef"
WORDS = st.sampled_from(
    ["tide", "Tide's", "bay", "École", "e\u0301cole", "straße", "ﬁsh", "高い東京", "x", 'a"b', "İ", "high tide", "\u212aelvin", "ti"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
QUERIES = st.one_of(
    TEXTS,
    st.tuples(WORDS, WORDS).map(lambda pair: f"{pair[0]} OR {pair[1]}"),
    st.tuples(WORDS, WORDS).map(lambda pair: f"{pair[0]} NOT {pair[1]}"),
    WORDS.map(lambda word: f'"{word.replace(chr(34), "")} tide"'),
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """A home whose sessions change from example to example."""
    return Home(tmp_path_factory.mktemp("shelf") / "h")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(TEXTS, min_size=1, max_size=3), min_size=1, max_size=4),
    QUERIES,
    st.sampled_from(["record", "conversation"]),
    st.booleans(),
)
def test_a18_the_same_records_with_and_without_an_index(shelf, sessions, terms, unit, case):
    for path in shelf.roots.sessions.iterdir():
        path.unlink()
    for number, turns in enumerate(sessions, 1):
        shelf.session(number, *turns)
    update(shelf.roots)
    options = {"match_unit": unit, "case_sensitive": case}
    plain, indexed = shelf.everything(terms, **options), shelf.everything(terms, indexed=True, **options)
    assert plain.records == indexed.records
    assert plain.summary.coverage.sources_completed == indexed.summary.coverage.sources_completed
    assert plain.summary.certificate == indexed.summary.certificate
    assert indexed.summary.index["used"]


def filled(home: Home) -> None:
    home.session(1, "tide at Alder", "high")
    home.session(2, "cheese", "low")
    home.run(RUN, 1, report="# Tides\n\nThe tide is high.", finding="Tide rises.")


def test_what_the_index_knows_is_not_read(home: Home):
    filled(home)
    report = update(home.roots)
    assert (report.indexed, report.unclean) == (3, 0)
    found = home.everything("cheese", indexed=True)
    assert [r.text for r in found.records] == ["cheese"]
    assert found.summary.index == {"used": True, "watermark": watermark(home), "sources_live": 1, "sources_ruled_out": 2}
    assert (found.summary.coverage.sources_completed, found.summary.sources_read, found.summary.ruled_out) == (4, 2, 2)
    assert found.summary.status.state == "complete"


def watermark(home: Home):
    kept = HistoryIndex(home.roots.index)
    kept.look(None)
    return kept.watermark


def test_a18_what_came_after_the_index_is_read_live(home: Home):
    filled(home)
    update(home.roots)
    home.session(3, "new tide")
    with home.path(1).open("a") as file:
        file.write(dump({"n": 9, "role": "assistant", "text": "appended tide"}))
    found = home.everything("tide", indexed=True)
    assert found.records == home.everything("tide").records
    assert {"new tide", "appended tide"} <= {r.text for r in found.records}
    assert codes(found)["index_stale"] == 1
    again = update(home.roots)
    assert (again.indexed, again.kept) == (2, 2)
    assert "index_stale" not in codes(home.everything("tide", indexed=True))


@pytest.mark.parametrize("text", ["\0 lionheart", "a zebra\0fish lionheart", "a\0b\0lionheart", "li\0 lionheart\0"])
def test_what_stands_behind_a_nul_is_found_through_the_index(home: Home, text: str):
    home.session(1, text)
    home.session(2, "nothing of it")
    update(home.roots)
    found = home.everything("lionheart", indexed=True)
    assert [record.text for record in found.records] == [text]
    assert found.summary.index["used"]


def test_what_is_gone_leaves_the_index(home: Home):
    filled(home)
    update(home.roots)
    home.path(2).unlink()
    assert home.everything("cheese", indexed=True).records == ()
    assert update(home.roots).removed == 1
    home.roots.sessions.rename(home.roots.home / "away")
    home.roots.sessions.write_text("no folder")
    with pytest.raises(OSError, match="directory"):
        update(home.roots)
    assert len(HistoryIndex(home.roots.index).look(None).sources) == 2


def test_what_is_broken_is_read_each_time_so_that_it_is_told_each_time(home: Home):
    filled(home)
    with home.path(1).open("a") as file:
        file.write("no json\n")
    assert update(home.roots).unclean == 1
    assert codes(home.everything("cheese", indexed=True))["malformed_records"] == 1


@pytest.mark.parametrize("harm", ["garbage", "empty", "future", "folder", "link"])
def test_a18_an_index_that_is_none_is_not_used_and_made_anew(home: Home, harm, tmp_path):
    filled(home)
    update(home.roots)
    path = home.roots.index
    if harm == "garbage":
        path.write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
    elif harm == "empty":
        path.write_bytes(b"")
    elif harm == "future":
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        path.rename(tmp_path / "index.db")
        path.mkdir() if harm == "folder" else path.symlink_to(tmp_path / "index.db")
    found = home.everything("tide", indexed=True)
    assert found.records == home.everything("tide").records
    assert not found.summary.index["used"]
    assert ("index_unavailable" in codes(found)) == (harm in {"garbage", "empty", "future"})
    if harm in {"garbage", "future"}:
        report = update(home.roots)
        assert (report.rebuilt, report.indexed) == (True, 3)


def test_a18_a_locked_index_is_not_waited_for(home: Home):
    filled(home)
    update(home.roots)
    with home.roots.index.with_suffix(".lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert update(home.roots) is None
    writer = sqlite3.connect(home.roots.index, isolation_level=None)
    writer.execute("PRAGMA journal_mode = DELETE")
    writer.execute("BEGIN EXCLUSIVE")
    try:
        found = home.everything("tide", indexed=True)
    finally:
        writer.close()
    assert codes(found)["index_unavailable"] == 1
    assert found.records == home.everything("tide").records


def test_an_index_with_too_much_that_is_dead_is_made_anew(home: Home, monkeypatch):
    monkeypatch.setattr(index, "_COMMIT_EVERY", 1)
    for round_ in range(4):
        home.session(1, f"tide {'x' * round_}")
        home.session(2, f"tide {'y' * round_}")
        report = update(home.roots)
    assert report.rebuilt or update(home.roots).rebuilt
    assert len(home.everything("tide", indexed=True).records) == 2


def test_the_index_is_private(home: Home):
    filled(home)
    update(home.roots)
    assert home.roots.index.stat().st_mode & 0o077 == 0


def test_dates_leave_files_out_that_are_too_old(home: Home):
    home.session(1, ("tide", "2020-01-01T00:00:00Z"))
    home.session(2, ("tide", "2026-05-01T00:00:00Z"))
    update(home.roots)
    found = home.everything("tide", since="2026-01-01", indexed=True)
    assert len(found.records) == 1
    assert found.records == home.everything("tide", since="2026-01-01").records


@pytest.mark.parametrize(
    ("terms", "asked"),
    [
        ("tide", '"tid" AND "ide"'),
        ("ti", ""),
        ('"high tide"', '"hig" AND "igh" AND "tid" AND "ide"'),
        ("tide OR ti", ""),
        ("tide NOT bay", '("tid" AND "ide")'),
        ("bay OR sea", '("bay") OR ("sea")'),
    ],
)
def test_the_index_is_asked_for_what_each_match_must_hold(terms, asked):
    assert expression_query(parse(terms).expression) == asked


def test_quotation_marks_are_no_syntax_of_the_index(home: Home):
    home.session(1, 'x" OR "y')
    update(home.roots)
    assert len(home.everything('x" OR', indexed=True).records) <= 1
    with pytest.raises(UsageError):
        home.everything("(", indexed=True)
