"""One spelling for each page, the site it belongs to, and what a run may fetch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.utils import urls
from deepdelve.utils.whatwg import UrlError


@pytest.mark.parametrize(
    ("spelling", "one"),
    [
        ("HTTP://Example.COM:80/a", "http://example.com/a"),
        ("https://example.com", "https://example.com/"),
        ("https://example.com./a#section", "https://example.com/a"),
        ("https://example.com/a#:~:text=words", "https://example.com/a"),
        ("https://user:secret@example.com/a", "https://example.com/a"),
        ("https://example.com/a?utm_source=x&UTM_Medium=y&gclid=1&fbclid=2", "https://example.com/a"),
        ("https://example.com/a?b=2&a=1&mc_eid=9", "https://example.com/a?a=1&b=2"),
        ("https://example.com/a?x=2&x=1", "https://example.com/a?x=2&x=1"),
        ("https://example.com/a?utm%5Fsource=x", "https://example.com/a"),
        ("https://example.com/a?&&", "https://example.com/a"),
        ("https://example.com/%7euser/%c3%a4", "https://example.com/~user/%C3%A4"),
        ("https://example.com/a/../b/", "https://example.com/b/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("  https://example.com/a\n", "https://example.com/a"),
        ("https://example.com/a?q=utm_source", "https://example.com/a?q=utm_source"),
    ],
)
def test_spellings_of_one_page_have_one_canonical_address(spelling: str, one: str) -> None:
    assert urls.canonical(spelling) == one


@pytest.mark.parametrize(
    "pair",
    [
        ("https://a.example/X", "https://a.example/x"),
        ("https://a.example/x", "https://a.example/x/"),
        ("http://a.example/", "https://a.example/"),
        ("https://a.example/?a=1", "https://a.example/?a=2"),
    ],
)
def test_different_pages_stay_different(pair: tuple[str, str]) -> None:
    assert urls.canonical(pair[0]) != urls.canonical(pair[1])


@pytest.mark.parametrize("name", ["notes/report.pdf", "corpus:a/b.md", "file:///x", "http://", "S3"])
def test_names_of_local_documents_come_back_as_they_are(name: str) -> None:
    assert urls.canonical(f" {name} ") == name
    assert not urls.is_web(name)
    assert urls.host(name) == urls.registrable_domain(name) == urls.parent(name) == ""


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_a_canonical_address_is_its_own_canonical_address(host: str, path: str, query: str) -> None:
    once = urls.canonical(f"https://{host}/{path}?{query}")
    assert urls.canonical(once) == once


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.example.com/x", "example.com"),
        ("https://a.b.example.co.uk", "example.co.uk"),
        ("https://someone.github.io/p", "someone.github.io"),
        ("https://www.bücher.de/", "xn--bcher-kva.de"),
        ("http://127.0.0.1:8080/", "127.0.0.1"),
        ("http://[2606:4700::1]/", "2606:4700::1"),
        ("http://intranet/", "intranet"),
        ("https://co.uk/", "co.uk"),
        ("https://example.com./", "example.com"),
    ],
)
def test_the_registrable_domain_is_what_one_owner_holds(url: str, domain: str) -> None:
    assert urls.registrable_domain(url) == domain


def test_sites_and_siblings() -> None:
    assert urls.same_site("https://a.example.org/x", "http://b.example.org")
    assert not urls.same_site("https://one.github.io", "https://two.github.io")
    assert not urls.same_site("notes.md", "notes.md")
    assert urls.parent("https://a.example/docs/one?x") == urls.parent("https://a.example/docs/two/") == "a.example/docs/"


def test_links_are_joined_to_their_page() -> None:
    assert urls.join("https://a.example/x/y", "../z#f") == "https://a.example/z#f"
    with pytest.raises(UrlError):
        urls.join("https://a.example/", "javascript:alert(1)")


@pytest.mark.parametrize(
    ("url", "scope", "has_corpus", "refused"),
    [
        ("https://a.example/", "web", True, False),
        ("notes.md", "web", True, True),
        ("https://a.example/", "corpus", True, True),
        ("notes.md", "corpus", True, False),
        ("https://a.example/", "both", True, False),
        ("notes.md", "both", True, False),
        ("https://a.example/", "auto", True, True),
        ("notes.md", "auto", True, False),
        ("https://a.example/", "auto", False, False),
        ("notes.md", "auto", False, True),
        ("HTTPS://Seed.example/?utm_source=x", "corpus", True, False),
        ("seed.pdf", "web", False, False),
    ],
)
def test_the_scope_of_a_run_decides_what_is_fetched_and_seeds_always_are(
    url: str, scope: urls.Scope, has_corpus: bool, refused: bool
) -> None:
    seeds = {"https://seed.example/", "seed.pdf"}
    assert bool(urls.scope_refusal(url, scope, has_corpus=has_corpus, seeds=seeds)) is refused


def test_a_lead_may_be_fetched_only_if_somebody_other_than_a_page_named_it() -> None:
    def refusal(url: str) -> str:
        return urls.lead_refusal(url, known={"https://hit.example/a"}.__contains__, fetched_domains={"read.example"})

    assert refusal("https://hit.example/a#x") == ""
    assert refusal("https://deep.read.example/other") == ""
    assert "search" in refusal("https://evil.example/collect?data=secret")
    assert refusal("https://read.example.evil.example/")
