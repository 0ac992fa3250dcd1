"""Office files from before 2007, and the encrypted ones of today, told apart by their streams."""

import contextlib
import struct
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from deepdelve.tools.web.documents.cfb import CompoundFile
from deepdelve.tools.web.documents.extracted import Extracted, encrypted, unsupported

_TITLE, _AUTHOR, _CREATED, _CODEPAGE = 2, 4, 12, 1
_STRING, _WIDE_STRING, _FILETIME = 30, 31, 64


def read_ole(data: bytes) -> Extracted:
    """Read a DOC or XLS file.

    Raises:
        FetchError: ``encrypted``, ``unreadable``, ``no_text``, or ``unsupported_type`` for what else comes in this container.
    """
    file = CompoundFile(data)
    if "EncryptedPackage" in file.streams:
        raise encrypted("The document is encrypted and opens only with a password.")
    if "WordDocument" in file.streams:
        from deepdelve.tools.web.documents.doc import read_doc

        return _with_properties(read_doc(file), file)
    if "Workbook" in file.streams or "Book" in file.streams:
        from deepdelve.tools.web.documents.xls import read_xls

        return _with_properties(read_xls(data), file)
    if "PowerPoint Document" in file.streams:
        raise unsupported(
            "The file is a PowerPoint presentation from before 2007 (PPT), which cannot be read here.", "Save it as PPTX or PDF."
        )
    if any(name.startswith("__substg1.0_") for name in file.streams):
        raise unsupported("The file is an Outlook message (MSG), which cannot be read here.", "Save it as text or PDF.")
    raise unsupported("The file is an OLE container of a type that is not known here.", "Look for the same content as a page, PDF or DOCX.")


def _with_properties(result: Extracted, file: CompoundFile) -> Extracted:
    stated: dict[int, str] = {}
    with contextlib.suppress(struct.error, IndexError, OverflowError, LookupError):
        stated = _properties(file.read("\x05SummaryInformation"))
    return replace(
        result, title=stated.get(_TITLE) or result.title, author=stated.get(_AUTHOR, ""), date=stated.get(_CREATED, "") or result.date
    )


def _properties(data: bytes) -> dict[int, str]:
    """Title, author and date of a summary stream ([MS-OLEPS])."""
    if len(data) < 48:
        return {}
    start = struct.unpack_from("<I", data, 44)[0]
    count = min(struct.unpack_from("<I", data, start + 4)[0], 100)
    places = [struct.unpack_from("<II", data, start + 8 + 8 * i) for i in range(count)]
    codepage = next((struct.unpack_from("<H", data, start + at + 4)[0] for key, at in places if key == _CODEPAGE), 1252)
    found: dict[int, str] = {}
    for key, at in places:
        kind, size = struct.unpack_from("<II", data, start + at)
        body = data[start + at + 8 : start + at + 8 + min(size, 2000)]
        if key in (_TITLE, _AUTHOR) and kind == _STRING:
            name = {65001: "utf-8", 1200: "utf-16-le"}.get(codepage, f"cp{codepage}")
            found[key] = body.decode(name, "replace").partition("\x00")[0].strip()
        elif key in (_TITLE, _AUTHOR) and kind == _WIDE_STRING:
            wide = data[start + at + 8 : start + at + 8 + 2 * min(size, 1000)]
            found[key] = wide.decode("utf-16-le", "replace").partition("\x00")[0].strip()
        elif key == _CREATED and kind == _FILETIME:
            ticks = struct.unpack_from("<Q", data, start + at + 4)[0]
            if ticks:
                found[key] = (datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10)).strftime("%Y-%m-%d")
    return found
