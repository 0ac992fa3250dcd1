"""A corpus behind the protocols of search and fetch."""

from pathlib import Path

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.search.corpus import CorpusBackend, CorpusFetcher, CorpusIndex, is_corpus_address

HTML = (
    "<html><head><title>The Alder</title></head><body><article>"
    + "<p>The Alder is a river in the north of the country.</p>" * 12
    + "</article></body></html>"
)


@pytest.fixture
async def index(tmp_path: Path) -> CorpusIndex:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "alder.html").write_text(HTML)
    (folder / "birch.md").write_text("# The Birch\n\nA river in the south.\n")
    return await CorpusIndex.build([folder], cache_dir=tmp_path / "cache")


async def test_search_answers_with_hits_in_order(index: CorpusIndex) -> None:
    response = await CorpusBackend(index).search(SearchQuery("river south", limit=2))
    assert response.outcome == "ok"
    assert [hit.rank for hit in response.hits] == [1, 2]
    assert response.hits[0].url == "corpus://docs/birch.md"


async def test_an_empty_answer_is_explained(index: CorpusIndex) -> None:
    response = await CorpusBackend(index).search(SearchQuery("zeppelin"))
    assert (response.hits, response.outcome) == ((), "empty")
    assert "None of the 2 documents" in response.detail


async def test_excluded_addresses_stay_out(index: CorpusIndex) -> None:
    query = SearchQuery("river", exclude=frozenset({"corpus://docs/birch.md"}))
    assert [hit.title for hit in (await CorpusBackend(index).search(query)).hits] == ["The Alder"]


async def test_a_document_is_fetched_from_disk(index: CorpusIndex) -> None:
    page = await CorpusFetcher(index).fetch("corpus://docs/birch.md")
    assert (page.title, page.state, page.kind, page.status) == ("The Birch", "ok", "markdown", 200)
    assert page.text.startswith("# The Birch")
    assert page.url == page.final_url == "corpus://docs/birch.md"
    assert page.fetched_at
    assert page.original is None


async def test_html_comes_as_text_with_its_original_beside_it(index: CorpusIndex) -> None:
    page = await CorpusFetcher(index).fetch("corpus://docs/alder.html")
    assert "The Alder is a river" in page.text
    assert "<p>" not in page.text
    assert page.original == HTML.encode()


async def test_the_original_is_left_out_once_the_file_has_changed(index: CorpusIndex, tmp_path: Path) -> None:
    (tmp_path / "docs" / "alder.html").write_text("<p>Something else.</p>")
    page = await CorpusFetcher(index).fetch("corpus://docs/alder.html")
    assert page.original is None
    assert "The Alder is a river" in page.text


async def test_the_original_is_not_read_through_a_link(index: CorpusIndex, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.html").write_text(HTML)
    (tmp_path / "docs" / "alder.html").unlink()
    (tmp_path / "docs" / "alder.html").symlink_to(tmp_path / "elsewhere.html")
    assert (await CorpusFetcher(index).fetch("corpus://docs/alder.html")).original is None


@pytest.mark.parametrize(
    "address",
    ["corpus://docs/none.md", "corpus://docs/../secret.md", "corpus://docs/%2e%2e/secret.md", "corpus://", "https://example.org/"],
)
async def test_an_address_that_is_not_in_the_index_is_refused_with_a_way_out(index: CorpusIndex, tmp_path: Path, address: str) -> None:
    (tmp_path / "secret.md").write_text("secret")
    with pytest.raises(FetchError) as caught:
        await CorpusFetcher(index).fetch(address)
    assert "not in the corpus" in caught.value.line()
    assert "search" in caught.value.remedy


def test_corpus_addresses_are_told_from_others() -> None:
    assert is_corpus_address("corpus://docs/a.md")
    assert not is_corpus_address("https://example.org/corpus://")


async def test_a_closed_backend_lets_go_of_its_file(index: CorpusIndex) -> None:
    backend = CorpusBackend(index)
    await CorpusFetcher(index).close()
    assert (await backend.search(SearchQuery("river"))).outcome == "ok"
    await backend.close()
    with pytest.raises(Exception, match="closed"):
        await backend.search(SearchQuery("river"))
