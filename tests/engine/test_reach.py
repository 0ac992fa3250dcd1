"""What a run may reach, in one word, in a sentence, and held when something is fetched."""

import pytest

from deepdelve.config import Settings
from deepdelve.core.errors import FetchError
from deepdelve.engine.reach import ReachFetcher, scope_line, scope_of
from deepdelve.tools.web.base import Page
from tests.tools.search.doubles import FakeEngine

SEED = "https://seed.example/page"


class Place:
    """Serves the addresses that start with its name."""

    def __init__(self, name: str) -> None:
        self.name, self.fetched, self.closed = name, [], 0

    async def fetch(self, url: str) -> Page:
        if not url.startswith(self.name):
            raise FetchError(f"Not in {self.name}.", cause="unreachable")
        self.fetched.append(url)
        return Page(url, url, self.name)

    async def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize(
    ("asked", "engines", "scope"),
    [
        ("auto", "corpus", "corpus"),
        ("auto", "searxng+openalex", "web"),
        ("auto", "corpus+ddgs", "both"),
        ("web", "corpus+ddgs", "web"),
        ("corpus", "corpus", "corpus"),
        ("both", "corpus+ddgs", "both"),
    ],
)
def test_auto_is_what_is_searched(asked: str, engines: str, scope: str) -> None:
    settings = Settings.model_validate({"search": {"scope": asked}})
    assert scope_of(settings, FakeEngine(engines)) == scope


@pytest.mark.parametrize(
    ("scope", "told"),
    [
        ("web", "Scope: the web, searched with ddgs; no local documents."),
        ("corpus", "Scope: the 3 documents of the corpus; no web pages."),
        ("both", "Scope: the 3 documents of the corpus and the web, searched with ddgs."),
    ],
)
def test_the_scope_is_told_in_a_sentence(scope, told: str) -> None:
    assert scope_line(scope, FakeEngine("ddgs"), 3, 0) == told
    assert scope_line(scope, FakeEngine("ddgs"), 3, 2).endswith("Read in any case: 2 named by you.")


async def test_each_address_goes_to_who_has_it() -> None:
    seeds, corpus, web = Place("corpus://seeds/"), Place("corpus://docs/"), Place("http")
    subject = ReachFetcher([seeds, corpus], web)
    for url, place in (("corpus://docs/a.md", corpus), ("corpus://seeds/b.md", seeds), (SEED, web)):
        assert (await subject.fetch(url)).text == place.name
    with pytest.raises(FetchError, match="corpus://docs/"):
        await subject.fetch("corpus://elsewhere/a.md")
    with pytest.raises(FetchError, match="Not in http"):
        await subject.fetch("ftp://files.example/")


async def test_a_run_within_its_documents_goes_to_the_web_for_seeds_only() -> None:
    web = Place("http")
    subject = ReachFetcher([], web, only=frozenset({SEED}))
    assert (await subject.fetch(SEED + "#part")).text == "http"
    with pytest.raises(FetchError, match="local documents only") as refused:
        await subject.fetch("https://other.example/")
    assert refused.value.cause == "refused"
    with pytest.raises(FetchError, match="local documents only"):
        await ReachFetcher([], None).fetch(SEED)
    assert web.fetched == [SEED + "#part"]


async def test_closing_closes_all() -> None:
    local, web, also = Place("corpus://"), Place("http"), []
    await ReachFetcher([local], web, closing=[lambda: also.append(1)]).close()
    assert (local.closed, web.closed, also) == (1, 1, [1])
    await ReachFetcher([], None).close()
