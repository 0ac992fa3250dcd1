"""Small documents of every type, built byte by byte so that each test shows what it is about."""

import io
import struct
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def relations(targets: Mapping[str, str]) -> str:
    """A relations part; a target with a scheme is external."""
    mode = {key: ' TargetMode="External"' if "://" in target else "" for key, target in targets.items()}
    rows = "".join(f'<Relationship Id="{key}" Type="t" Target="{target}"{mode[key]}/>' for key, target in targets.items())
    return f"<Relationships {RELS}>{rows}</Relationships>"


def core(**stated: str) -> str:
    """Document properties."""
    spaces = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
    names = {"title": "dc:title", "creator": "dc:creator", "created": "dcterms:created", "language": "dc:language"}
    return f"<cp {spaces}>" + "".join(f"<{names[key]}>{value}</{names[key]}>" for key, value in stated.items()) + "</cp>"


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str, parts: Mapping[str, str | bytes] | None = None, links: Mapping[str, str] | None = None) -> bytes:
    """A Word document with this body."""
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations({"rId1": "word/document.xml"}),
            "word/document.xml": f"<w:document {W} {R} {M}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(links or {}),
            **(parts or {}),
        }
    )


def xlsx(sheets: Mapping[str, str], parts: Mapping[str, str | bytes] | None = None, states: Mapping[str, str] | None = None) -> bytes:
    """A workbook; each sheet is given as its rows in XML."""
    listed, targets, files = "", {}, {}
    for index, (name, rows) in enumerate(sheets.items(), 1):
        state = (states or {}).get(name, "visible")
        listed += f'<sheet name="{name}" sheetId="{index}" state="{state}" r:id="rId{index}"/>'
        targets[f"rId{index}"] = f"worksheets/sheet{index}.xml"
        files[f"xl/worksheets/sheet{index}.xml"] = f"<worksheet {S}><sheetData>{rows}</sheetData></worksheet>"
    return zipped(
        {
            "_rels/.rels": relations({"rId1": "xl/workbook.xml"}),
            "xl/workbook.xml": f"<workbook {S} {R}><sheets>{listed}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(targets),
            **files,
            **(parts or {}),
        }
    )


def shape(kind: str, *lines: str) -> str:
    """A shape of a slide; ``kind`` is the placeholder's type, empty for a text box."""
    place = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>' if kind else ""
    text = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
    return f"<p:sp>{place}<p:txBody>{text}</p:txBody></p:sp>"


def pptx(*slides: str, parts: Mapping[str, str | bytes] | None = None, links: Mapping[str, str] | None = None) -> bytes:
    """A presentation; each slide is given as its shapes in XML, and the slides stand in the file in reverse."""
    count = len(slides)
    listed = "".join(f'<p:sldId id="{255 + i}" r:id="rId{i}"/>' for i in range(1, count + 1))
    files: dict[str, str | bytes] = {}
    for i, shapes in reversed(list(enumerate(slides, 1))):
        files[f"ppt/slides/slide{i}.xml"] = f"<p:sld {P} {A} {R}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        files[f"ppt/slides/_rels/slide{i}.xml.rels"] = relations(links or {})
    return zipped(
        {
            "_rels/.rels": relations({"rId1": "ppt/presentation.xml"}),
            "ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations({f"rId{i}": f"slides/slide{i}.xml" for i in range(1, count + 1)}),
            **files,
            **(parts or {}),
        }
    )


def epub(chapters: Mapping[str, str], metadata: str = "", parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """A book; each chapter is given as the body of its page."""
    items = "".join(f'<item id="c{i}" href="text/{name}"/>' for i, name in enumerate(chapters))
    spine = "".join(f'<itemref idref="c{i}"/>' for i in range(len(chapters)))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": f'<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>{metadata}</metadata>'
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"OEBPS/text/{name}": f"<html><body>{body}</body></html>" for name, body in chapters.items() if body},
            **(parts or {}),
        }
    )


def odf(kind: str, content: str, parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """An OpenDocument file of a kind: text, spreadsheet or presentation."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table", "draw", "meta")
    )
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f'<office:document-content {spaces} xmlns:xlink="http://www.w3.org/1999/xlink"><office:body><office:{kind}>'
            f"{content}</office:{kind}></office:body></office:document-content>",
            **(parts or {}),
        }
    )


def pdf(*contents: str, info: str = "", rotate: int = 0) -> bytes:
    """A PDF; each page is given as its content stream, with Helvetica as /F1."""
    bodies: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids: list[bytes] = []
    for content in contents:
        stream = content.encode("latin-1")
        bodies.append(b"<< /Length %d >>\nstream\n" % len(stream) + stream + b"\nendstream")
        page = b"<< /Type /Page /Parent 2 0 R /Rotate %d /MediaBox [0 0 612 792] /Contents %d 0 R " % (rotate, len(bodies))
        bodies.append(page + b"/Resources << /Font << /F1 3 0 R >> >> >>")
        kids.append(b"%d 0 R" % len(bodies))
    bodies[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    bodies.append(f"<< {info} >>".encode("latin-1"))
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    tail = b"trailer << /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(bodies) + 1, len(bodies), len(out))
    return out + head + table + tail


def show(text: str, x: float, y: float, size: float = 10) -> str:
    """A line of text at a place of a PDF page."""
    safe = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({safe}) Tj ET\n"


def compound(streams: Mapping[str, bytes]) -> bytes:
    """An OLE container whose streams all stand in sectors of 512 bytes."""
    sectors: list[bytes] = []
    chain: list[int] = []
    entries: list[bytes] = []

    def store(data: bytes) -> int:
        start = len(sectors)
        blocks = [data[i : i + 512].ljust(512, b"\0") for i in range(0, len(data), 512)]
        for index, block in enumerate(blocks):
            sectors.append(block)
            chain.append(start + index + 1 if index + 1 < len(blocks) else 0xFFFFFFFE)
        return start

    def entry(name: str, kind: int, start: int, size: int, after: int, child: int = 0xFFFFFFFF) -> bytes:
        raw = name.encode("utf-16-le")
        head = raw.ljust(64, b"\0") + struct.pack("<HBB", len(raw) + 2 if name else 0, kind, 1)
        return head + struct.pack("<III", 0xFFFFFFFF, after, child) + b"\0" * 36 + struct.pack("<IQ", start, size)

    entries.append(entry("Root Entry", 5, 0xFFFFFFFE, 0, 0xFFFFFFFF, 1))
    for number, (name, data) in enumerate(streams.items(), 1):
        padded = data.ljust(4096, b"\0")
        after = number + 1 if number < len(streams) else 0xFFFFFFFF
        entries.append(entry(name, 2, store(padded), len(padded), after))
    directory = store(b"".join(entries).ljust(512, b"\0"))
    table_sector = len(sectors)
    chain.append(0xFFFFFFFD)
    table = struct.pack(f"<{len(chain)}I", *chain).ljust(512, b"\xff")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16 + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + b"\0" * 6
    header += struct.pack("<IIIIIIIII", 0, 1, directory, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<I", table_sector) + b"\xff" * 432
    return header + b"".join(sectors) + table


def word_97(text: str, *, flags: int = 0, version: int = 0xC1) -> bytes:
    """A Word 97 document: half of the text in the old code page, half in UTF-16."""
    half = len(text) // 2
    first, second = text[:half].encode("cp1252"), text[half:].encode("utf-16-le")
    at, wide = 1024, 1024 + len(first)
    fib = bytearray(0x200)
    struct.pack_into("<HH", fib, 0, 0xA5EC, version)
    struct.pack_into("<H", fib, 10, flags)
    struct.pack_into("<i", fib, 0x4C, len(text))
    pieces = struct.pack("<III", 0, half, len(text))
    pieces += struct.pack("<HIH", 0, (at * 2) | 0x40000000, 0) + struct.pack("<HIH", 0, wide, 0)
    table = b"\x01\x02\x00ab\x02" + struct.pack("<I", len(pieces)) + pieces
    struct.pack_into("<II", fib, 0x1A2, 0, len(table))
    return compound({"WordDocument": bytes(fib).ljust(1024, b"\0") + first + second, "0Table": table})


def biff_string(text: str, width: str = "<H") -> bytes:
    return struct.pack(width, len(text)) + b"\x01" + text.encode("utf-16-le")


def xls(sheets: Mapping[str, list[list[str | float]]], hidden: str = "") -> bytes:
    """An Excel 97 workbook; numbers are stored as numbers, the rest as labels."""

    def record(kind: int, body: bytes) -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    def start(kind: int) -> bytes:
        return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 0x600))

    bodies: list[bytes] = []
    for rows in sheets.values():
        body = start(0x10)
        for r, row in enumerate(rows):
            for c, value in enumerate(row):
                place = struct.pack("<HHH", r, c, 0)
                if isinstance(value, str):
                    body += record(0x204, place + biff_string(value))
                else:
                    body += record(0x203, place + struct.pack("<d", value))
        bodies.append(body + record(0x0A, b""))
    listed = [struct.pack("<IBB", 0, name == hidden, 0) + biff_string(name, "<B") for name in sheets]
    offset = len(start(5)) + sum(len(entry) + 4 for entry in listed) + 4
    head = start(5)
    for entry, body in zip(listed, bodies, strict=True):
        head += record(0x85, struct.pack("<I", offset) + entry[4:])
        offset += len(body)
    return compound({"Workbook": head + record(0x0A, b"") + b"".join(bodies)})
