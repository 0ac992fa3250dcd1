"""EPUB books: the chapters in reading order."""

import posixpath
from urllib.parse import unquote

from deepdelve.tools.web.documents.charset import decode
from deepdelve.tools.web.documents.extracted import TEXT_LIMIT, Extracted, encrypted, no_text, unreadable
from deepdelve.tools.web.documents.markdown import Writer
from deepdelve.tools.web.documents.metadata import iso_date
from deepdelve.tools.web.documents.ooxml import Package
from deepdelve.tools.web.documents.trees import Element, attribute, html_tree, local

_CHAPTER_LIMIT = 5_000
# Obfuscated fonts are no protection of the text.
_FONT_SCHEMES = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def read_epub(package: Package) -> Extracted:
    """Read the chapters of a book.

    Raises:
        FetchError: ``encrypted`` under rights management; ``unreadable`` or ``no_text``.
    """
    _refuse_protected(package)
    container = package.optional_xml("META-INF/container.xml")
    roots = [e.get("full-path") or "" for e in container.iter() if local(e) == "rootfile"] if container is not None else []
    name = next((root for root in roots if root in package.names), "")
    if not name:
        raise unreadable("The book has no list of its contents.", "Look for another copy.")
    book = package.xml(name)
    writer = Writer()
    size = 0
    chapters = _chapters(book, posixpath.dirname(name))
    for chapter in chapters:
        tree = html_tree(decode(package.read(chapter)))[0] if chapter in package.names and size < TEXT_LIMIT else None
        body = next(tree.iter("body"), None) if tree is not None else None
        if body is not None:
            before = len(writer.blocks)
            writer.write(body)
            size += sum(map(len, writer.blocks[before:]))
    if not writer.blocks:
        raise no_text("The book has no text: its chapters hold only images or nothing.")
    missing = sum(chapter not in package.names for chapter in chapters)
    return Extracted(
        writer.text(),
        title=_stated(book, "title"),
        author=_stated(book, "creator"),
        date=iso_date(_stated(book, "date")),
        language=_stated(book, "language").lower().partition("-")[0],
        kind="epub",
        links=tuple(writer.links),
        reason=f"{missing} of {len(chapters)} chapters are missing from the file." if missing else "",
    )


def _refuse_protected(package: Package) -> None:
    root = package.optional_xml("META-INF/encryption.xml")
    for method in (e for e in root.iter() if local(e) == "EncryptionMethod") if root is not None else ():
        if not attribute(method, "Algorithm").startswith(_FONT_SCHEMES):
            raise encrypted("The book is protected by digital rights management.")


def _chapters(book: Element, folder: str) -> list[str]:
    files = {e.get("id"): e.get("href") or "" for e in book.iter() if local(e) == "item"}
    names = [files[e.get("idref")] for e in book.iter() if local(e) == "itemref" and e.get("idref") in files]
    return [posixpath.normpath(posixpath.join(folder, unquote(name))) for name in dict.fromkeys(names)][:_CHAPTER_LIMIT]


def _stated(book: Element, name: str) -> str:
    values = [" ".join((e.text or "").split()) for e in book.iter() if local(e) == name]
    return ", ".join(dict.fromkeys(value for value in values if value)) if name == "creator" else next(iter(values), "")
