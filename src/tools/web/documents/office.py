"""ZIP-based documents told apart by their parts, and the properties that Office files share."""

from dataclasses import replace

from deepdelve.tools.web.documents.extracted import Extracted, encrypted, unsupported
from deepdelve.tools.web.documents.metadata import iso_date
from deepdelve.tools.web.documents.ooxml import Package
from deepdelve.tools.web.documents.trees import local


def read_zip(data: bytes) -> Extracted:
    """Read a DOCX, XLSX, PPTX, EPUB or OpenDocument file.

    Raises:
        FetchError: ``encrypted``, ``unreadable``, ``no_text``, or ``unsupported_type`` for any other archive.
    """
    package = Package(data)
    names = package.names
    kind = package.read("mimetype")[:100].decode("ascii", "replace").strip() if "mimetype" in names else ""
    if kind == "application/epub+zip" or "META-INF/container.xml" in names:
        from deepdelve.tools.web.documents.epub import read_epub

        return read_epub(package)
    if kind.startswith("application/vnd.oasis.opendocument") and "content.xml" in names:
        from deepdelve.tools.web.documents.odf import read_odf

        return read_odf(package)
    if "EncryptedPackage" in names:
        raise encrypted("The document is encrypted and opens only with a password.")
    main = _main_part(package)
    if main.startswith("word/"):
        from deepdelve.tools.web.documents.docx import read_docx

        result = read_docx(package, main)
    elif main.startswith("xl/") and main.endswith(".xml"):
        from deepdelve.tools.web.documents.xlsx import read_xlsx

        result = read_xlsx(package, main)
    elif main.startswith("ppt/"):
        from deepdelve.tools.web.documents.pptx import read_pptx

        result = read_pptx(package, main)
    elif main.startswith("xl/"):
        raise unsupported("The file is a binary Excel workbook (XLSB), which cannot be read here.", "Save it as XLSX.")
    else:
        raise unsupported("The file is a ZIP archive, not a document.", "Unpack it and use the files inside.")
    return _with_properties(result, package)


def _main_part(package: Package) -> str:
    for target in package.relations("").values():
        if target in package.names and target.startswith(("word/", "xl/", "ppt/")):
            return target
    usual = ("word/document.xml", "xl/workbook.xml", "xl/workbook.bin", "ppt/presentation.xml")
    return next((name for name in usual if name in package.names), "")


def _with_properties(result: Extracted, package: Package) -> Extracted:
    root = package.optional_xml("docProps/core.xml")
    stated: dict[str, str] = {}
    for element in root if root is not None else ():
        stated[local(element)] = " ".join((element.text or "").split())
    embedded = sum("/embeddings/" in name for name in package.names)
    left_out = "One file embedded in the document was not read." if embedded == 1 else f"{embedded} files embedded in it were not read."
    return replace(
        result,
        title=stated.get("title") or result.title,
        author=stated.get("creator") or stated.get("lastModifiedBy", ""),
        date=iso_date(stated.get("created") or stated.get("modified") or ""),
        language=stated.get("language", "").lower().partition("-")[0],
        reason=f"{result.reason} {left_out}".strip() if embedded else result.reason,
    )
