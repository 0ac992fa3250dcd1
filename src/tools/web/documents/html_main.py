"""The main content of a web page as Markdown, with what the page says of itself."""

import html
import re
from typing import Any, cast

from deepdelve.tools.web.documents.boilerplate import plain, rejoined, without_boilerplate
from deepdelve.tools.web.documents.charset import decode
from deepdelve.tools.web.documents.extracted import Extracted, no_text
from deepdelve.tools.web.documents.markdown import Writer
from deepdelve.tools.web.documents.metadata import Metadata, read_metadata
from deepdelve.tools.web.documents.trees import Element, all_text, drop, html_tree, make

# Above this the main content is found by the page's own landmarks alone, in linear time.
ELEMENT_LIMIT = 8_000
# Characters and tags that are parsed; scripts and styles are taken out first where there is more.
_MARKUP_LIMIT = 5_000_000
_TAG_LIMIT = 150_000
# Below this a result is compared with what the landmarks give.
_SHORT = 250
_LEAD_RANGE = (110, 800)
_LANDMARKS = ("//main", "//*[@role='main']", "//article", "//*[@itemprop='articleBody']", "//*[@id='content' or @id='main']")
# A page of so few elements may be content throughout.
_SIMPLE = 150
_UNSEEN = {"script", "style", "noscript", "template"}
_CHROME = {"nav", "footer", "aside", "form", "dialog", "menu"}
_CHROME_ROLES = {"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alert"}
_HIDDEN = re.compile(r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden", re.I)
_TAG = re.compile(r"<[^<>]{0,5000}>")
_BLOCK_TAG = re.compile(r"</?(?:p|div|li|ul|ol|tr|table|h[1-6]|br|section|article|blockquote|pre)\b[^<>]{0,5000}>", re.I)


def read_html(data: bytes, *, url: str = "", charset: str = "") -> Extracted:
    """Extract the main content of a page.

    Raises:
        FetchError: ``no_text`` if the page shows nothing to read.
    """
    whole = decode(data, charset)
    text, reason = _bounded(whole)
    tree, cut = html_tree(text)
    if tree is None:
        raise no_text("The page is empty.")
    meta = read_metadata(tree)
    base = _base(tree, url)
    writer = Writer(base=base)
    if cut:
        writer.blocks = [_bare_text(whole)]
        reason = "The page nests its elements too deeply, or holds one too large, to be read as a page; its bare text was kept."
    else:
        _write_main(tree, writer, meta)
    result = writer.text()
    if not result.strip():
        raise no_text("The page shows no text of its own; it may need a browser, or hold only images.")
    return Extracted(result, meta.title, meta.author, meta.date, meta.language, "html", tuple(writer.links), 0, reason)


def _bounded(text: str) -> tuple[str, str]:
    """As much of the markup as is parsed, and what to say of the rest."""
    whole = len(text)
    if whole > _MARKUP_LIMIT or text.count("<") > _TAG_LIMIT:
        text = _without(_without(text, "<script", "</script"), "<style", "</style")
    clean = len(text)
    text = text[:_MARKUP_LIMIT]
    if text.count("<") > _TAG_LIMIT:
        text = "<".join(text.split("<", _TAG_LIMIT)[:_TAG_LIMIT])
    return text, "" if len(text) == clean else f"Only the first {len(text):,} of {whole:,} characters of the page's markup were read."


def _write_main(tree: Element, writer: Writer, meta: Metadata) -> None:
    count = sum(1 for _ in zip(range(ELEMENT_LIMIT + 1), tree.iter(), strict=False))
    if count > ELEMENT_LIMIT or (count <= _SIMPLE and _is_unadorned(tree)):
        writer.write(_region(tree))
        writer.blocks = without_boilerplate(writer.blocks, meta.title)
        return
    _drop_hidden(tree)
    body = _main_body(tree)
    if body is not None:
        writer.write(body)
        writer.blocks = rejoined(writer.blocks)
    lead = _lead(tree, meta.description, writer.blocks)
    if lead:
        writer.blocks.insert(1 if writer.blocks and writer.blocks[0].startswith("# ") else 0, lead)
    writer.blocks = without_boilerplate(writer.blocks, meta.title)
    size = sum(len(plain(block)) for block in writer.blocks)
    if size < _SHORT:
        other = Writer(base=writer.base)
        other.write(_region(tree))
        if sum(len(plain(block)) for block in other.blocks) > max(2 * size, _SHORT if size else 0):
            writer.blocks, writer.links = other.blocks, other.links


def _drop_hidden(tree: Element) -> None:
    """Take out what the page marks as hidden, unless it is most of the page: that is shown by a script."""
    marked = [element for element in tree.iter() if element.get("hidden") not in {None, "until-found"}]
    half = len(all_text(tree)) / 2 if marked else 0.0
    for element in marked:
        if len(all_text(element)) < half:
            drop(element)


def _main_body(tree: Element) -> Element | None:
    """What trafilatura takes for the main content, in its own small vocabulary."""
    from trafilatura import bare_extraction

    for block in list(tree.iter("pre")):
        if next(block.iter("code"), None) is None:
            _wrap_as_code(block)
    # Any format but the default spares it writing the text, which is written here anyway.
    document = bare_extraction(
        cast(Any, tree), include_comments=False, include_links=True, include_formatting=True, favor_precision=True, output_format="xml"
    )
    return cast(Element | None, getattr(document, "body", None))


def _wrap_as_code(block: Element) -> None:
    """Have preformatted text taken for code, which keeps its lines; trafilatura takes it for a quotation."""
    code = make("code")
    code.text, block.text = block.text, None
    for child in list(block):
        code.append(child)
    block.append(code)


def _is_unadorned(tree: Element) -> bool:
    """Whether a page has nothing around its content: few links, and no navigation."""
    if any(element.tag in _CHROME for element in tree.iter("nav", "footer", "aside", "form")):
        return False
    body = next(tree.iter("body"), tree)
    total = sum(
        len(text.strip()) for element in body.iter() if element.tag not in _UNSEEN for text in (element.text or "", element.tail or "")
    )
    linked = sum(len(all_text(link).strip()) for link in body.iter("a"))
    return linked < 0.1 * total


def _region(tree: Element) -> Element:
    """The landmark that holds most of the text, or the body; navigation and hidden parts are taken out of the tree."""
    for element in list(tree.iter()):
        hidden = element.get("hidden") is not None or element.get("aria-hidden") == "true" or _HIDDEN.search(element.get("style") or "")
        if element.tag in _CHROME or element.get("role") in _CHROME_ROLES or hidden:
            drop(element)
    body = next(tree.iter("body"), tree)
    whole = len(all_text(body))
    for path in _LANDMARKS:
        found = cast(list[Element], tree.xpath(path))
        best = max(found[:50], key=lambda element: len(all_text(element)), default=None)
        if best is not None and len(all_text(best)) > 0.4 * whole:
            return best
    return body


def _lead(tree: Element, description: str, blocks: list[str]) -> str:
    """The paragraph above the article that the page gives as its description, if it is shown but was left out."""
    start = " ".join(description.split())[:60]
    if len(description) < _LEAD_RANGE[0] or any(start in plain(block) for block in blocks[:6]):
        return ""
    for element in tree.iter("p", "div", "h2", "h3", "span", "strong", "em", "b"):
        if not (element.text or "").lstrip().startswith(start[:20]):
            continue
        # A tag left open holds the whole article; then its own text is the lead.
        for text in (" ".join(all_text(element).split()), " ".join((element.text or "").split())):
            if text.startswith(start) and _LEAD_RANGE[0] <= len(text) <= _LEAD_RANGE[1]:
                return text
    return ""


def _base(tree: Element, url: str) -> str:
    from urllib.parse import urljoin

    base = next(tree.iter("base"), None)
    href = base.get("href") if base is not None else None
    try:
        return urljoin(url, href) if href else url
    except ValueError:
        return url


def _bare_text(text: str) -> str:
    """The text between tags, in linear time: for pages that no tree can be built of."""
    text = _without(_without(text, "<script", "</script"), "<style", "</style")
    text = _TAG.sub(" ", _BLOCK_TAG.sub("\n", text))
    lines = (" ".join(line.split()) for line in html.unescape(text).split("\n"))
    return "\n".join(line for line in lines if line)


def _without(text: str, start: str, end: str) -> str:
    """The text without the parts between two marks."""
    pieces = re.split(re.escape(start), text, flags=re.I)
    kept = [pieces[0]]
    for piece in pieces[1:]:
        at = piece.lower().find(end)
        kept.append(piece[at:] if at >= 0 else "")
    return "".join(kept)
