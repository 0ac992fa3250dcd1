"""Containers are opened within bounds: bombs, entities, odd paths and passwords."""

import io
import zipfile
from pathlib import Path

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents import ooxml
from deepdelve.tools.web.documents.ooxml import Package, parse_xml
from deepdelve.tools.web.documents.trees import all_text, attribute, local, relation_id
from tests.tools.web.documents.made import docx, paragraph, relations, zipped


def refusal(data: bytes, name: str = "a") -> FetchError:
    with pytest.raises(FetchError) as caught:
        Package(data).read(name)
    return caught.value


def test_a_part_is_read() -> None:
    assert Package(zipped({"a": "words"})).read("a") == b"words"


def test_a_missing_part_is_damage() -> None:
    assert refusal(zipped({"a": "words"}), "b").cause == "unreadable"


def test_a_part_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ooxml, "PART_LIMIT", 3_000_000)
    error = refusal(zipped({"a": b"\0" * 100_000_000}))
    assert error.cause == "unreadable"
    assert "unpacks" in error.message


def test_parts_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ooxml, "TOTAL_LIMIT", 1_000)
    package = Package(zipped({"a": b"x" * 600, "b": b"x" * 600}))
    package.read("a")
    with pytest.raises(FetchError):
        package.read("b")


def test_too_many_parts_are_refused() -> None:
    with pytest.raises(FetchError) as caught:
        Package(zipped({f"part{i}": "" for i in range(20_001)}))
    assert "20,001 parts" in caught.value.message


def test_a_part_with_a_password_is_encrypted() -> None:
    data = bytearray(zipped({"a": "words"}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert refusal(bytes(data)).cause == "encrypted"


def test_a_damaged_part_is_named() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a", "words of the part")
    error = refusal(out.getvalue().replace(b"words of", b"other of", 1))
    assert error.cause == "unreadable"
    assert "'a'" in error.message


def test_entities_are_not_unfolded() -> None:
    levels = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    root = parse_xml(f'<!DOCTYPE r [<!ENTITY l0 "lol">{levels}]><r><p>words</p>&l11;</r>'.encode())
    assert len(all_text(root)) < 1_000


def test_external_entities_are_not_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    root = parse_xml(f'<!DOCTYPE r [<!ENTITY x SYSTEM "{secret.as_uri()}">]><r>words &x;</r>'.encode())
    assert "secret" not in all_text(root)


def test_a_document_with_a_bomb_inside_keeps_its_own_text() -> None:
    bomb = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><r>&b;</r>'
    assert Package(docx(paragraph("Text"), {"docProps/core.xml": bomb})).xml("docProps/core.xml") is not None


@pytest.mark.parametrize("data", [b"", b"\x00\x01", b"words"])
def test_what_is_no_xml_is_damage(data: bytes) -> None:
    with pytest.raises(FetchError) as caught:
        parse_xml(data, "word/document.xml")
    assert caught.value.cause == "unreadable"
    assert "word/document.xml" in caught.value.message


def test_xml_cut_short_gives_what_there_is() -> None:
    assert all_text(parse_xml(b"<r><p>one</p><p>tw")) == "onetw"


def test_relations_are_resolved_from_their_part() -> None:
    package = Package(
        zipped(
            {"word/_rels/document.xml.rels": relations({"a": "media/x.png", "b": "/xl/y.xml", "c": "https://a.test/z", "d": "../e.xml"})}
        )
    )
    found = package.relations("word/document.xml")
    assert found == {"a": "word/media/x.png", "b": "xl/y.xml", "c": "https://a.test/z", "d": "e.xml"}


def test_names_are_told_without_their_namespace() -> None:
    root = parse_xml(b'<a:x xmlns:a="u" xmlns:r="http://s/relationships" a:k="v" id="1" r:id="2"/>')
    assert (local(root), attribute(root, "k"), relation_id(root), attribute(root, "none")) == ("x", "v", "2", "")
