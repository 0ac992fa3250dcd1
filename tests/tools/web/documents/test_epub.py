"""Books: chapters in reading order, rights management, missing parts."""

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.office import read_zip
from tests.tools.web.documents.made import epub, zipped

ENCRYPTION = '<encryption><EncryptedData><EncryptionMethod Algorithm="{}"/></EncryptedData></encryption>'


def test_chapters_follow_the_spine() -> None:
    result = read_zip(epub({"b.xhtml": "<h1>One</h1><p>First words.</p>", "a.xhtml": "<h1>Two</h1><p>Second words.</p>"}))
    assert result.text == "# One\n\nFirst words.\n\n# Two\n\nSecond words."
    assert result.kind == "epub"


def test_the_book_states_its_metadata() -> None:
    stated = (
        "<dc:title>The Harbour</dc:title><dc:creator>Ada Mole</dc:creator><dc:creator>Ben Rat</dc:creator>"
        "<dc:date>2001-02-03</dc:date><dc:language>en-GB</dc:language>"
    )
    result = read_zip(epub({"a.xhtml": "<p>Words.</p>"}, stated))
    assert (result.title, result.author, result.date, result.language) == ("The Harbour", "Ada Mole, Ben Rat", "2001-02-03", "en")


def test_names_are_percent_decoded() -> None:
    data = zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<c><rootfile full-path="b.opf"/></c>',
            "b.opf": '<package><item id="i" href="my%20chapter.html"/><itemref idref="i"/></package>',
            "my chapter.html": "<html><body><p>Words.</p></body></html>",
        }
    )
    assert read_zip(data).text == "Words."


def test_missing_chapters_are_counted() -> None:
    result = read_zip(epub({"a.xhtml": "<p>Words.</p>", "b.xhtml": ""}))
    assert "1 of 2 chapters are missing" in result.reason


def test_rights_management_is_encryption() -> None:
    parts = {"META-INF/encryption.xml": ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")}
    with pytest.raises(FetchError) as caught:
        read_zip(epub({"a.xhtml": "<p>x</p>"}, parts=parts))
    assert caught.value.cause == "encrypted"


def test_obfuscated_fonts_are_not() -> None:
    parts = {"META-INF/encryption.xml": ENCRYPTION.format("http://www.idpf.org/2008/embedding")}
    assert read_zip(epub({"a.xhtml": "<p>Words.</p>"}, parts=parts)).text == "Words."


def test_a_book_of_images_is_refused() -> None:
    with pytest.raises(FetchError) as caught:
        read_zip(epub({"a.xhtml": "<img src='1.png'/>"}))
    assert caught.value.cause == "no_text"


def test_a_book_without_contents_is_damaged() -> None:
    with pytest.raises(FetchError) as caught:
        read_zip(zipped({"mimetype": "application/epub+zip", "META-INF/container.xml": "<container/>"}))
    assert caught.value.cause == "unreadable"
