"""Which files of a corpus count, and what their addresses are."""

import os
from pathlib import Path

import pytest

from deepdelve.core.errors import CorpusError
from deepdelve.tools.search import corpus_files
from deepdelve.tools.search.corpus_files import READABLE, read_file, scan


def write(path: Path, text: str = "Some text.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def addresses(*paths: Path) -> list[str]:
    return [file.address for file in scan(paths).files]


def reasons(*paths: Path) -> dict[str, str]:
    return {Path(skipped.path).name: skipped.reason for skipped in scan(paths).skipped}


def test_documents_of_all_kinds_are_found_in_subfolders(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    for name in ("a.md", "b.txt", "sub/c.HTML", "sub/deep/d.pdf", "e.jsonl", "f.markdown", "g.htm", "h.xhtml", "i.ndjson", "j.text"):
        write(root / name)
    kinds = {file.relative: file.kind for file in scan([root]).files}
    assert kinds["sub/c.HTML"] == "html"
    assert kinds["sub/deep/d.pdf"] == "pdf"
    assert kinds["e.jsonl"] == kinds["i.ndjson"] == "jsonl"
    assert len(kinds) == 10


def test_office_files_books_and_tables_count_as_documents(tmp_path: Path) -> None:
    names = ("a.docx", "b.XLSX", "c.pptx", "d.epub", "e.odt", "f.rtf", "g.doc", "h.xls", "i.csv", "j.tsv", "k.json", "l.ipynb")
    for name in names:
        write(tmp_path / "office" / name)
    kinds = {file.relative: file.kind for file in scan([tmp_path / "office"]).files}
    assert set(kinds) == set(names)
    assert (kinds["b.XLSX"], kinds["l.ipynb"]) == ("xlsx", "notebook")


def test_an_address_says_folder_and_place_and_nothing_of_the_machine(tmp_path: Path) -> None:
    root = tmp_path / "My Notes"
    write(root / "sub dir" / "über 100%.md")
    (address,) = addresses(root)
    assert address == "corpus://my-notes/sub%20dir/%C3%BCber%20100%25.md"
    assert str(tmp_path) not in address


def test_two_folders_of_one_name_get_different_labels(tmp_path: Path) -> None:
    first, second = tmp_path / "x" / "docs", tmp_path / "y" / "docs"
    write(first / "a.md")
    write(second / "a.md")
    assert addresses(first, second) == ["corpus://docs/a.md", "corpus://docs-2/a.md"]


def test_a_file_given_by_its_own_name_is_a_corpus_of_one(tmp_path: Path) -> None:
    file = write(tmp_path / "docs" / "a.md")
    write(tmp_path / "docs" / "b.md")
    assert addresses(file) == ["corpus://docs/a.md"]


def test_a_file_reached_twice_is_one_document(tmp_path: Path) -> None:
    file = write(tmp_path / "docs" / "a.md")
    assert len(addresses(tmp_path / "docs", file, tmp_path / "docs")) == 1


def test_what_cannot_be_read_is_named_with_its_reason(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    write(root / "a.md")
    write(root / "picture.png")
    write(root / "no-suffix")
    found = reasons(root)
    assert found == {"picture.png": f"not {READABLE}", "no-suffix": f"not {READABLE}"}


def test_hidden_files_and_folders_are_left_out_silently(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    write(root / "a.md")
    write(root / ".hidden.md")
    write(root / ".git" / "config.md")
    assert addresses(root) == ["corpus://docs/a.md"]
    assert reasons(root) == {}


def test_no_symbolic_link_is_followed_to_a_file_or_a_folder(tmp_path: Path) -> None:
    secret = write(tmp_path / "outside" / "secret.md", "secret")
    root = tmp_path / "docs"
    write(root / "a.md")
    (root / "link.md").symlink_to(secret)
    (root / "folder").symlink_to(secret.parent)
    (root / "dangling.md").symlink_to(tmp_path / "nowhere.md")
    found = scan([root])
    assert [file.relative for file in found.files] == ["a.md"]
    assert reasons(root) == dict.fromkeys(("link.md", "folder", "dangling.md"), "a symbolic link, not followed")


def test_a_link_that_is_put_in_place_later_is_not_read_either(tmp_path: Path) -> None:
    secret = write(tmp_path / "outside" / "a.md", "secret")
    root = tmp_path / "docs"
    write(root / "sub" / "a.md")
    (file,) = scan([root]).files
    (root / "sub" / "a.md").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(secret.parent)
    with pytest.raises(OSError, match="symbolic link"):
        read_file(file.root, file.relative)


def test_a_corpus_that_is_itself_a_link_is_what_the_person_named(tmp_path: Path) -> None:
    write(tmp_path / "real" / "a.md")
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    assert addresses(tmp_path / "alias") == ["corpus://real/a.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_does_not_hang_the_scan(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    write(root / "a.md")
    os.mkfifo(root / "pipe.txt")
    assert reasons(root) == {"pipe.txt": "not a regular file"}


def test_a_path_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    write(tmp_path / "secret.md")
    (tmp_path / "docs").mkdir()
    with pytest.raises(OSError, match="not followed"):
        read_file(tmp_path / "docs", "../secret.md")


def test_a_file_over_the_limit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_files, "MAX_FILE_BYTES", 1 << 20)
    root = tmp_path / "docs"
    write(root / "a.md")
    write(root / "big.txt", "x" * ((1 << 20) + 1))
    assert reasons(root) == {"big.txt": "larger than 1 MB"}


def test_the_digest_follows_content_and_place(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    write(root / "a.md", "one")
    first = scan([root]).digest
    assert scan([root]).digest == first
    write(root / "a.md", "two")
    second = scan([root]).digest
    (root / "a.md").rename(root / "b.md")
    assert len({first, second, scan([root]).digest}) == 3


@pytest.mark.parametrize("given", ["nowhere", "a\x00b"])
def test_a_corpus_that_does_not_exist_is_one_clear_line(tmp_path: Path, given: str) -> None:
    with pytest.raises(CorpusError) as caught:
        scan([f"{tmp_path}/{given}"])
    assert "cannot be read" in caught.value.line()
    assert "--corpus" in caught.value.line()
    assert "\n" not in caught.value.line()


def test_no_corpus_at_all_is_said() -> None:
    with pytest.raises(CorpusError, match="No corpus was given"):
        scan([])
