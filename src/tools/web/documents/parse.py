"""One document, from bytes to text. Runs where the caller decides: a thread, or the parser process."""

from dataclasses import replace

from deepdelve.tools.web.documents.clean import clean_text
from deepdelve.tools.web.documents.extracted import TEXT_LIMIT, Extracted, no_text
from deepdelve.tools.web.documents.sniff import family


def parse(data: bytes, *, url: str = "", content_type: str = "", charset: str = "") -> Extracted:
    """Read a document by its content.

    Args:
        data: the bytes as received.
        url: where it came from; links are resolved against it.
        content_type: media type of the header, if any.
        charset: label of the header, if any.

    Raises:
        FetchError: ``encrypted``, ``unreadable``, ``no_text`` or ``unsupported_type``.
    """
    kind = family(data, content_type)
    if kind == "empty":
        raise no_text("The file is empty.")
    # Each reader loads its own libraries; a worker that only ever sees PDF never loads the HTML ones.
    match kind:
        case "html":
            from deepdelve.tools.web.documents.html_main import read_html

            result = read_html(data, url=url, charset=charset)
        case "pdf":
            from deepdelve.tools.web.documents.pdf import read_pdf

            result = read_pdf(data)
        case "zip":
            from deepdelve.tools.web.documents.office import read_zip

            result = read_zip(data)
        case "ole":
            from deepdelve.tools.web.documents.ole import read_ole

            result = read_ole(data)
        case _:
            from deepdelve.tools.web.documents.plain import read_plain

            result = read_plain(data, kind, url=url, charset=charset)
    return _bounded(result)


def _bounded(result: Extracted) -> Extracted:
    # Cleaning costs time, and takes away little: what is far beyond the limit need not be cleaned.
    text = clean_text(result.text[: 2 * TEXT_LIMIT])
    if not text:
        raise no_text("The document holds no readable text.")
    reason = result.reason
    if len(text) > TEXT_LIMIT or len(result.text) > 2 * TEXT_LIMIT:
        text = text[: max(text.rfind("\n", 0, TEXT_LIMIT), TEXT_LIMIT - 10_000)]
        reason = f"{reason} The text was cut after {len(text):,} characters.".strip()
    fields = {name: clean_text(getattr(result, name)).replace("\n", " ")[:1000] for name in ("title", "author", "date", "language")}
    return replace(result, text=text, reason=reason, **fields)
