"""Building, caching and searching the index of a corpus."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from deepdelve.core.errors import CorpusError, DiskError
from deepdelve.tools.search import corpus_index
from deepdelve.tools.search.corpus_files import READABLE
from deepdelve.tools.search.corpus_index import CorpusIndex, default_cache, match_expression, snippet

DOCUMENTS = {
    "alder": "# The Alder\n\nThe Alder is a river in the north. It is 212 kilometres long.\n",
    "birch": "# The Birch\n\nThe Birch is a river in the south. It flows past the town of Elm.\n",
    "elm": "# Elm\n\nElm is a town with 4,000 inhabitants. Its mayor is Ada Quill.\n",
}


def write(folder: Path, documents: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
async def index(tmp_path: Path, cache: Path) -> CorpusIndex:
    return await CorpusIndex.build([write(tmp_path / "docs", DOCUMENTS)], cache_dir=cache)


async def titles(index: CorpusIndex, text: str, limit: int = 10) -> list[str]:
    return [hit.title for hit in await index.search(text, limit=limit)]


# Searching


async def test_the_document_that_holds_the_words_comes_first(index: CorpusIndex) -> None:
    assert (await titles(index, "Who is the mayor of Elm?"))[0] == "Elm"
    assert (await titles(index, "how long is the Alder"))[0] == "The Alder"


async def test_a_hit_says_where_it_is_and_why(index: CorpusIndex) -> None:
    hit = (await index.search("mayor"))[0]
    assert (hit.url, hit.engine, hit.rank) == ("corpus://docs/elm.md", "corpus", 1)
    assert "mayor is Ada Quill" in hit.snippet


async def test_other_forms_and_accents_of_a_word_are_found(tmp_path: Path, cache: Path) -> None:
    folder = write(tmp_path / "d", {"a": "# A\n\nGéza filmed two comedies in Köln.\n", "b": "# B\n\nNothing here.\n"})
    found = await CorpusIndex.build([folder], cache_dir=cache)
    for query in ("geza", "GÉZA", "comedy", "filming", "koln"):
        assert await titles(found, query) == ["A"], query


async def test_text_without_spaces_is_found_by_parts_of_it(tmp_path: Path, cache: Path) -> None:
    folder = write(tmp_path / "d", {"a": "# 東京\n\n東京都の人口は約1400万人である。\n", "b": "# 大阪\n\n大阪は商業の都市である。\n"})
    found = await CorpusIndex.build([folder], cache_dir=cache)
    assert (await titles(found, "東京の人口"))[0] == "東京"
    assert (await titles(found, "商業都市"))[0] == "大阪"


async def test_a_long_document_is_found_by_its_best_passage_and_listed_once(tmp_path: Path, cache: Path) -> None:
    filler = "Cows graze on the meadow. " * 400
    documents = {
        "long": f"# Long\n\n{filler}The lighthouse keeper was Ida Brook. {filler}",
        "short": "# Short\n\nA lighthouse stands here.\n",
    }
    found = await CorpusIndex.build([write(tmp_path / "d", documents)], cache_dir=cache)
    hits = await found.search("lighthouse keeper")
    assert [hit.title for hit in hits] == ["Long", "Short"]
    assert "Ida Brook" in hits[0].snippet


async def test_limit_and_exclusions_are_kept(index: CorpusIndex) -> None:
    assert len(await titles(index, "river town", limit=2)) == 2
    hits = await index.search("river", exclude=frozenset({"corpus://docs/alder.md"}))
    assert [hit.url for hit in hits] == ["corpus://docs/birch.md"]
    assert hits[0].rank == 1


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "AND OR NOT NEAR",
        "title:alder",
        "river*",
        "(river",
        "-river ^town",
        'NEAR("a" "b", 2)',
        "';--",
        "{title}: x",
        "a\x00b",
        "+" * 500,
    ],
)
async def test_no_query_breaks_or_steers_the_match(index: CorpusIndex, query: str) -> None:
    await index.search(query)


@pytest.mark.parametrize("query", ["", "   ", "!?…", "\x00"])
async def test_a_query_without_a_word_finds_nothing(index: CorpusIndex, query: str) -> None:
    assert await index.search(query) == []


def test_the_match_leaves_function_words_out_unless_there_is_nothing_else() -> None:
    assert match_expression("Who is the mayor?") == '"mayor"'
    assert match_expression("to be or not to be") == '"to" OR "be" OR "or" OR "not"'
    assert match_expression("x y " * 500).count(" OR ") == 1
    assert match_expression(" ".join(f"w{n}" for n in range(500))).count(" OR ") == corpus_index.QUERY_WORDS - 1


async def test_searches_side_by_side_do_not_disturb_one_another(index: CorpusIndex) -> None:
    answers = await asyncio.gather(*(titles(index, "mayor" if n % 2 else "Alder") for n in range(40)))
    assert {tuple(answer[:1]) for answer in answers[::2]} == {("The Alder",)}
    assert {tuple(answer[:1]) for answer in answers[1::2]} == {("Elm",)}


# Loading


async def test_a_document_is_loaded_by_its_address_with_or_without_a_place_in_it(index: CorpusIndex) -> None:
    for address in ("corpus://docs/elm.md", "corpus://docs/elm.md#L3", "corpus://docs/elm.md#page=2"):
        document = await index.load(address)
        assert document is not None
        assert document.text == DOCUMENTS["elm"]
    assert await index.load("corpus://docs/none.md") is None


async def test_a_row_is_not_mistaken_for_its_file(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"title": "One", "text": "First."}\n{"title": "Two", "text": "Second."}\n')
    found = await CorpusIndex.build([tmp_path / "r.jsonl"], cache_dir=cache)
    (first, second) = found.addresses(10)
    loaded = await found.load(second)
    assert loaded is not None
    assert loaded.title == "Two"
    assert first.endswith("#1")
    assert await found.load(first.replace("#1", "#9")) is None
    assert await found.load(first.split("#")[0]) is None


async def test_addresses_come_in_the_order_of_the_corpus(index: CorpusIndex) -> None:
    assert index.addresses(2) == ["corpus://docs/alder.md", "corpus://docs/birch.md"]


# Building


async def test_the_cached_index_is_used_as_long_as_nothing_changed(
    tmp_path: Path, cache: Path, index: CorpusIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(corpus_index, "_write_index", never)
    again = await CorpusIndex.build([tmp_path / "docs"], cache_dir=cache)
    assert again.documents == index.documents == 3
    (tmp_path / "docs" / "elm.md").write_text("# Elm\n\nChanged.\n")
    with pytest.raises(AssertionError, match="built again"):
        await CorpusIndex.build([tmp_path / "docs"], cache_dir=cache)


async def test_what_was_skipped_is_known_from_the_cache_too(tmp_path: Path, cache: Path) -> None:
    folder = write(tmp_path / "docs", DOCUMENTS)
    (folder / "empty.txt").write_text("")
    (folder / "image.png").write_bytes(b"png")
    for _ in range(2):
        found = await CorpusIndex.build([folder], cache_dir=cache)
        assert {Path(entry.path).name: entry.reason for entry in found.skipped} == {
            "image.png": f"not {READABLE}",
            "empty.txt": "no text in it",
        }


async def test_a_damaged_index_is_built_anew(tmp_path: Path, cache: Path, index: CorpusIndex) -> None:
    index.close()
    (file,) = cache.glob("*.sqlite")
    file.write_bytes(b"not a database")
    found = await CorpusIndex.build([tmp_path / "docs"], cache_dir=cache)
    assert await titles(found, "mayor") == ["Elm"]


async def test_the_index_is_opened_read_only(index: CorpusIndex) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        index._db.execute("DELETE FROM docs")


async def test_old_indexes_are_cleared_away_and_no_building_file_stays(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_index, "KEPT_INDEXES", 2)
    for number in range(4):
        folder = write(tmp_path / f"d{number}", {"a": f"# A\n\nText {number}.\n"})
        (await CorpusIndex.build([folder], cache_dir=cache)).close()
    assert len(list(cache.glob("*.sqlite"))) == 2
    assert len(list(cache.iterdir())) == 2


async def test_an_empty_corpus_is_one_clear_line(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "docs").mkdir()
    with pytest.raises(CorpusError) as caught:
        await CorpusIndex.build([tmp_path / "docs"], cache_dir=cache)
    assert "holds no readable document" in caught.value.line()
    assert "\n" not in caught.value.line()


async def test_a_corpus_of_unreadable_files_names_the_first(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("")
    with pytest.raises(CorpusError, match=r"a\.txt cannot be read as a document: no text in it\."):
        await CorpusIndex.build([tmp_path / "docs"], cache_dir=cache)
    (tmp_path / "docs" / "b.txt").write_text("")
    with pytest.raises(CorpusError, match=r"of 2 files none can be read; the first, .*a\.txt: no text in it"):
        await CorpusIndex.build([tmp_path / "docs"], cache_dir=cache)


async def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DiskError):
        await CorpusIndex.build([write(tmp_path / "docs", DOCUMENTS)], cache_dir=tmp_path / "file" / "cache")


async def test_the_cache_lies_below_a_moved_home(isolated: Path, tmp_path: Path) -> None:
    assert default_cache() == isolated / "cache" / "corpus"
    await CorpusIndex.build([write(tmp_path / "docs", DOCUMENTS)])
    assert list(default_cache().glob("*.sqlite"))


def test_the_cache_lies_in_the_platforms_place_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DEEPDELVE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache().parts[-2:] == ("deepdelve", "corpus")


# Passages and snippets


async def test_every_passage_of_a_long_document_is_found(tmp_path: Path, cache: Path) -> None:
    lines = [f"Gauge number g{n}x stands in the river. It is read every hour.\n" for n in range(300)]
    built = await CorpusIndex.build([write(tmp_path / "docs", {"gauges": "".join(lines)})], cache_dir=cache)
    for number in (0, 150, 299):
        (hit,) = await built.search(f"g{number}x")
        assert f"g{number}x stands" in hit.snippet


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Mr O'Neill built it.", "O'Neill"),
        ("Mr O\u2019Neill built it.", "o'neill"),
        ("Mr O'Neill built it.", "O\u2019Neill"),
        ("A \u201cquoted\u201d word \u2013 here\u2026", "quoted"),
        ("Die Straße ist lang.", "strasse"),
        ("Un café – ouvert.", "cafe"),
        ("The \ufb01rst one.", "first"),
        ("热泵可以工作。", "热泵"),
    ],
)
async def test_a_word_is_found_however_it_is_written(tmp_path: Path, cache: Path, text: str, query: str) -> None:
    built = await CorpusIndex.build([write(tmp_path / "docs", {"a": text, "b": "Nothing of it."})], cache_dir=cache)
    assert [hit.url for hit in await built.search(query)] == ["corpus://docs/a.md"]


def test_a_snippet_begins_with_the_sentence_that_fits_and_keeps_its_length() -> None:
    passage = "# Heading\n\nCows graze. The mayor is Ada. She likes tea. " + "Long words follow here. " * 40
    found = snippet(passage, frozenset({"mayor"}))
    assert found.startswith("The mayor is Ada. She likes tea.")
    assert len(found) <= corpus_index.SNIPPET_CHARS
    assert snippet("# Only", frozenset()) == "# Only"
    assert len(snippet("word " * 500, frozenset())) <= corpus_index.SNIPPET_CHARS
