"""Feeds by their entries, other XML by its elements."""

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.xml_text import read_xml


def test_an_rss_feed() -> None:
    result = read_xml(
        b"<rss><channel><title>Harbour news</title><item><title>A storm</title><link>https://a.test/1</link>"
        b"<pubDate>Tue, 05 Mar 2024 10:00:00 GMT</pubDate>"
        b"<description>&lt;p&gt;The wall &lt;b&gt;held&lt;/b&gt;.&lt;/p&gt;</description></item>"
        b"<item><title>No link</title><description>Plain words</description></item></channel></rss>"
    )
    assert result.text == "## [A storm](https://a.test/1)\n\n2024-03-05\n\nThe wall held.\n\n## No link\n\nPlain words"
    assert (result.title, result.kind, result.links) == ("Harbour news", "xml", ("https://a.test/1",))


def test_an_atom_feed() -> None:
    result = read_xml(
        b'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en-GB"><title>News</title><entry><title>One</title><link href="/1"/>'
        b"<updated>2024-01-02T00:00:00Z</updated><summary>Words</summary></entry></feed>",
        url="https://a.test/feed",
    )
    assert result.text == "## [One](https://a.test/1)\n\n2024-01-02\n\nWords"
    assert result.language == "en"


def test_any_other_document_is_its_elements() -> None:
    data = b"<article><title>The harbour</title><sec><p>First <italic>words</italic> here.</p><p>Second.</p></sec><n/></article>"
    assert read_xml(data).text == "The harbour\n\nFirst words here.\n\nSecond."


def test_a_document_cut_short_is_read_as_far_as_it_goes() -> None:
    assert "First" in read_xml(b"<?xml version='1.0'?><a><p>First</p><p>Sec").text


@pytest.mark.parametrize(
    ("data", "cause"), [(b"<a><b/></a>", "no_text"), (b"<?xml version='1.0'?>", "unreadable"), (b"words", "unreadable")]
)
def test_refusals(data: bytes, cause: str) -> None:
    with pytest.raises(FetchError) as caught:
        read_xml(data)
    assert caught.value.cause == cause
