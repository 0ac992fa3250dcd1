"""References, read again by parsers that are not ours."""

import json

import bibtexparser
import pytest
import rispy

from deepdelve.core.records import Source
from deepdelve.engine.writing.export.references import bibtex, csl_json, ris

from .made import sources

BOMB = 'A {B} \\input{x} % "q" & $y$ #1 ~ ^\n\nTY  - BOOK\r\nER  - \x00'


def listed() -> list[Source]:
    return list(sources().values())


def bombs() -> list[Source]:
    return [Source(id="S1", url=f"https://e.example/{{x}}%20\n{BOMB}", title=BOMB, author=BOMB, date=BOMB, fetched_at=BOMB), *listed()[1:]]


def test_bibtex_names_title_authors_year_and_address() -> None:
    entries = bibtexparser.parse_string(bibtex(listed())).entries
    first = {field.key: field.value for field in entries[0].fields}
    assert first["title"] == "Field trial"
    assert first["author"] == "Doe, Jane and Max Muster"
    assert first["year"] == "2024"
    assert first["urldate"] == "2026-01-02"
    assert first["url"].startswith("https://example.org/trial?a=1")
    assert [entry.key for entry in entries] == ["S1", "S2"]


def test_bibtex_stays_whole_whatever_the_texts() -> None:
    library = bibtexparser.parse_string(bibtex(bombs()))
    assert not library.failed_blocks
    assert [entry.key for entry in library.entries] == ["S1", "S2"]


def test_ris_names_the_same() -> None:
    first, second = rispy.loads(ris(listed()))
    assert first["type_of_reference"] == "ELEC"
    assert first["title"] == "Field trial"
    assert first["authors"] == ["Doe, Jane", "Max Muster"]
    assert first["year"] == "2024"
    assert first["date"] == "2024/03/05/"
    assert first["urls"] == ["https://example.org/trial?a=1&b=2"]
    assert second["id"] == "S2"


def test_ris_cannot_be_given_another_record() -> None:
    assert [record["id"] for record in rispy.loads(ris(bombs()))] == ["S1", "S2"]
    assert not any(line.startswith("TY  - BOOK") for line in ris(bombs()).splitlines())


def test_csl_names_the_same() -> None:
    first, second = json.loads(csl_json(listed()))
    assert first == {
        "id": "S1",
        "type": "webpage",
        "title": "Field trial",
        "author": [{"family": "Doe", "given": "Jane"}, {"literal": "Max Muster"}],
        "issued": {"date-parts": [[2024, 3, 5]]},
        "accessed": {"date-parts": [[2026, 1, 2]]},
        "URL": "https://example.org/trial?a=1&b=2",
    }
    assert second == {"id": "S2", "type": "webpage", "title": "Survey <b>", "URL": "https://example.com/survey"}


def test_csl_stays_whole_whatever_the_texts() -> None:
    assert [item["id"] for item in json.loads(csl_json(bombs()))] == ["S1", "S2"]


def test_a_document_of_the_corpus_is_no_web_page() -> None:
    local = [Source(id="S1", url="corpus://notes/a.md", title="热泵")]
    assert json.loads(csl_json(local)) == [{"id": "S1", "type": "document", "title": "热泵", "note": "corpus://notes/a.md"}]
    (record,) = rispy.loads(ris(local))
    assert record["type_of_reference"] == "GEN"
    assert "urls" not in record
    assert record["title"] == "热泵"


@pytest.mark.parametrize(
    ("date", "parts"), [("2021", [2021]), ("May 2021", [2021]), ("2021-07", [2021, 7]), ("2021-13-40", [2021]), ("", None)]
)
def test_a_date_is_told_as_exactly_as_it_is_known(date: str, parts: list[int] | None) -> None:
    (item,) = json.loads(csl_json([Source(id="S1", url="https://e.example", date=date)]))
    assert item.get("issued", {}).get("date-parts", [None])[0] == parts


def test_no_sources_make_an_empty_list() -> None:
    assert (bibtex([]), ris([]), csl_json([])) == ("", "", "[]\n")
