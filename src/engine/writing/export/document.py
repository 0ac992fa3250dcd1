"""A delivered report as blocks and runs, with its claims, citations and passages: what every writer of a format is given.

Outside text is only ever the text of a run here. Markup of the report itself has become fields; HTML, images and addresses that are
not of the web are plain words.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from deepdelve.core.errors import UsageError
from deepdelve.core.records import Claim, ClaimStatus, Source
from deepdelve.utils.phrases import say
from deepdelve.utils.text import squash

if TYPE_CHECKING:
    from markdown_it.token import Token

BlockKind = Literal["heading", "text", "item", "quote", "code", "table", "rule"]
SIGNS: Mapping[ClaimStatus, str] = {"supported": "✓", "partial": "◐", "contradicted": "✗", "unsupported": "⚠", "unchecked": "?"}
MAX_CHARS = 4_000_000
CONTEXT_CHARS = 240
QUOTE_CHARS = 2_000
# Control characters save newline and tab, lone surrogates, noncharacters, and overrides of the direction of writing.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# Rare punctuation: Markdown lets bold begin and end beside it. The two that the text does not hold mark where claims stand.
_CANDIDATES = "".join(chr(code) for code in range(0x2E00, 0x2E2E))
_LINE_HEAD = re.compile(r"[ \t]*(?:(?:[-*+>|]|#{1,6}|\d{1,9}[.)])[ \t]+|\|)*")


@dataclass(frozen=True)
class Run:
    """A stretch of text in one look.

    Attributes:
        href: an address of the web that it links to, or empty.
        source: number of the cited source, 0 for none.
        claim: number of the claim that it belongs to, 0 for none.
        jump: whether it is the sign behind a claim that leads to the claim's passage.
    """

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    href: str = ""
    source: int = 0
    claim: int = 0
    jump: bool = False


@dataclass(frozen=True)
class Block:
    """A paragraph, heading, list item, quote, code, rule, or a table, whose first row is its head.

    ``level`` is that of a heading (1 to 6) or how deep an item stands (from 0); ``marker`` is the number of a numbered item.
    ``source`` is set where the block is the entry of a source in the report's own list.
    """

    kind: BlockKind
    runs: tuple[Run, ...] = ()
    level: int = 0
    marker: str = ""
    rows: tuple[tuple[tuple[Run, ...], ...], ...] = ()
    source: int = 0

    @property
    def text(self) -> str:
        """Its words."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True)
class Evidence:
    """What carries a claim: the passage with a little of what stands around it.

    ``number`` counts from 1; ``placed`` tells whether the claim was found in the text.
    """

    number: int
    text: str
    status: ClaimStatus
    reason: str = ""
    title: str = ""
    url: str = ""
    source_id: str = ""
    before: str = ""
    quote: str = ""
    after: str = ""
    placed: bool = True

    @property
    def sign(self) -> str:
        """The sign of its status."""
        return SIGNS[self.status]


@dataclass(frozen=True)
class Document:
    """A report ready to be written in a format; ``language`` is an IETF tag or empty."""

    title: str
    language: str = ""
    blocks: tuple[Block, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass
class _Look:
    """How the text being read is shown."""

    bold: int = 0
    italic: int = 0
    href: list[str] = field(default_factory=list[str])


def clean(text: str) -> str:
    """Outside text without what breaks a file or reads as something else."""
    return _UNFIT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def right_to_left(text: str) -> bool:
    """Whether a text begins in a script that is written from the right: its first letter decides."""
    for char in text[:2_000]:
        kind = unicodedata.bidirectional(char)
        if kind in {"L", "R", "AL"}:
            return kind != "L"
    return False


def web_address(url: str) -> str:
    """The address if it is one of the web, else an empty text."""
    return url if url.startswith(("https://", "http://")) and not any(char.isspace() for char in url) else ""


def build(
    markdown: str, claims: Iterable[Claim], sources: Mapping[str, Source], texts: Mapping[str, str], *, title: str, language: str = ""
) -> Document:
    """The document of a delivered report.

    Args:
        markdown: the report as delivered.
        claims: its ledger; offsets are those of ``markdown``.
        sources: id to record.
        texts: id to the stored text of those sources that claims rest on.
        title: used where the report has none.
        language: IETF tag.

    Raises:
        UsageError: the report is too long to be converted.
    """
    if len(markdown) > MAX_CHARS:
        raise UsageError(f"The report has {len(markdown):,} characters, more than can be converted.", "Export it as md.")
    checked = sorted((c for c in claims if c.needs_citation), key=lambda c: (c.delivered_span is None, c.delivered_span or (0, 0), c.id))
    reader = _Reader(markdown, checked)
    blocks = _linked(reader.read())
    evidence = tuple(
        _evidence(number, claim, squash("".join(reader.said.get(number, ()))), sources, texts) for number, claim in enumerate(checked, 1)
    )
    heading = next((block.text for block in blocks if block.kind == "heading" and block.text.strip()), "")
    return Document(squash(heading or clean(title))[:300] or say("report", language), language, blocks, evidence)


def _evidence(number: int, claim: Claim, said: str, sources: Mapping[str, Source], texts: Mapping[str, str]) -> Evidence:
    passage = claim.passage
    source = sources.get(passage.source_id if passage is not None else claim.citations[0] if claim.citations else "")
    found = Evidence(number, said or squash(clean(claim.text)), claim.status, squash(clean(claim.reason)), placed=bool(said))
    if source is not None:
        found = replace(found, title=squash(clean(source.title or source.url)), url=clean(source.url), source_id=source.id)
    if passage is None:
        return found
    text = texts.get(passage.source_id, "")
    if 0 <= passage.start < passage.end <= len(text):
        first, last = max(passage.start - CONTEXT_CHARS, 0), passage.end + CONTEXT_CHARS
        before, after = text[first : passage.start], text[passage.end : last]
        return replace(
            found,
            before=_whole_words(before, cut_left=first > 0).lstrip(),
            quote=squash(clean(text[passage.start : passage.end]))[:QUOTE_CHARS],
            after=_whole_words(after, cut_right=last < len(text)).rstrip(),
        )
    return replace(found, quote=squash(clean(passage.quote))[:QUOTE_CHARS])


def _whole_words(text: str, *, cut_left: bool = False, cut_right: bool = False) -> str:
    """The text on one line; a word that was cut goes, where that leaves some. A space beside the passage stays."""
    line = squash(clean(text))
    left, right = (text[:1].isspace() and not cut_left), (text[-1:].isspace() and not cut_right)
    if cut_left and not text[:1].isspace():
        line = f"… {line.partition(' ')[2] or line}"
    if cut_right and not text[-1:].isspace():
        line = f"{line.rpartition(' ')[0] or line} …"
    return f"{' ' if left and line else ''}{line}{' ' if right and line else ''}"


def _linked(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks with entries of the list of sources known as such, and citations of other numbers as plain words."""
    marked: list[Block] = []
    listing = False
    for block in blocks:
        if block.kind == "heading":
            listing = squash(block.text).casefold() in {"sources", "references"}
        number = block.runs[1].source if len(block.runs) > 1 and block.runs[0].text == "[" else 0
        marked.append(replace(block, source=number) if listing and number else block)
    known = {block.source for block in marked if block.source}
    return tuple(_with_known(block, known) for block in marked)


def _with_known(block: Block, known: set[int]) -> Block:
    def fit(runs: tuple[Run, ...], own: int = 0) -> tuple[Run, ...]:
        return tuple(replace(run, source=0) if run.source and (run.source not in known or run.source == own) else run for run in runs)

    return replace(block, runs=fit(block.runs, block.source), rows=tuple(tuple(fit(cell) for cell in row) for row in block.rows))


class _Reader:
    """Reads Markdown once. ``said`` holds for each claim's number the words that were found of it."""

    def __init__(self, markdown: str, claims: Sequence[Claim]) -> None:
        free = [char for char in _CANDIDATES if char not in markdown]
        # A text that holds nearly all of the rare signs loses two of them.
        self._open, self._close = free[:2] if len(free) > 1 else _CANDIDATES[:2]
        if len(free) <= 1:
            markdown = markdown.replace(self._open, " ").replace(self._close, " ")
        self._token = re.compile(
            rf"{self._open}(?P<claim>\d{{0,7}}){self._close}"
            rf"|\[(?P<cited>\d{{1,4}}(?:, \d{{1,4}}){{0,30}})\]"
            rf"|(?P<url>https?://[^\s<>{self._open}{self._close}]{{1,2000}})"
        )
        self._text = clean(self._marked(markdown, claims))
        self._claims = claims
        self._claim = 0
        self.said: dict[int, list[str]] = {}

    def read(self) -> list[Block]:
        """All blocks, in order."""
        from markdown_it import MarkdownIt

        tokens = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).parse(self._text)
        return _Blocks(self).read(tokens)

    def runs(self, children: Sequence["Token"]) -> tuple[Run, ...]:
        """The runs of an inline token's children."""
        look, found, held = _Look(), list[Run](), list[str]()

        def put() -> None:
            if held:
                found.extend(self._split("".join(held), look))
                held.clear()

        for child in children:
            match child.type:
                case "text":
                    held.append(child.content)
                case "softbreak":
                    held.append(" ")
                case "hardbreak":
                    held.append("\n")
                case "code_inline":
                    put()
                    found.append(self._run(self._bare(child.content), look, code=True))
                case "image":
                    held.append(child.content)
                case _:
                    put()
                    _turn(look, child)
        put()
        return tuple(run for run in found if run.text)

    def code(self, text: str) -> tuple[Run, ...]:
        """A code block as one run."""
        return (Run(self._bare(text).rstrip("\n"), code=True),)

    def _marked(self, markdown: str, claims: Sequence[Claim]) -> str:
        """The text with signs where claims begin and end."""
        pieces: list[str] = []
        at = 0
        for number, claim in enumerate(claims, 1):
            start, end = claim.delivered_span or (0, 0)
            if not at <= start < end <= len(markdown):
                continue
            line = markdown.rfind("\n", 0, start) + 1
            head = _LINE_HEAD.match(markdown, line)
            start = min(max(start, head.end() if head is not None else start), end)
            pieces += [markdown[at:start], f"{self._open}{number}{self._close}", markdown[start:end], self._open + self._close]
            at = end
        return "".join([*pieces, markdown[at:]])

    def _bare(self, text: str) -> str:
        """The text without signs; a claim that begins or ends in it is heeded."""
        for found in self._token.finditer(text):
            if found["claim"] is not None:
                self._claim = int(found["claim"] or 0)
        return self._token.sub(lambda found: "" if found["claim"] is not None else found[0], text)

    def _split(self, text: str, look: _Look) -> Iterable[Run]:
        at = 0
        for found in self._token.finditer(text):
            yield self._run(text[at : found.start()], look)
            at = found.end()
            if found["claim"] is not None:
                yield from self._turn_claim(found["claim"])
            elif found["cited"] is not None:
                yield from self._cited(found["cited"], look)
            else:
                address = found["url"].rstrip(".,;:!?)'\"")
                yield self._run(address, look, href=address)
                at = found.start() + len(address)
        yield self._run(text[at:], look)

    def _turn_claim(self, number: str) -> Iterable[Run]:
        """The sign at the end of a claim; at its beginning nothing."""
        if not number and self._claim:
            yield Run(SIGNS[self._claims[self._claim - 1].status], claim=self._claim, jump=True)
        self._claim = int(number or 0)

    def _cited(self, numbers: str, look: _Look) -> Iterable[Run]:
        for place, number in enumerate(numbers.split(", ")):
            yield self._run("[" if not place else ", ", look)
            yield self._run(number, look, source=int(number))
        yield self._run("]", look)

    def _run(self, text: str, look: _Look, *, code: bool = False, href: str = "", source: int = 0) -> Run:
        if self._claim and text:
            self.said.setdefault(self._claim, []).append(text)
        href = look.href[-1] if look.href else href
        return Run(text, look.bold > 0, look.italic > 0, code, href, 0 if href else source, self._claim)


def _turn(look: _Look, token: "Token") -> None:
    match token.type:
        case "strong_open" | "strong_close":
            look.bold += token.nesting
        case "em_open" | "em_close":
            look.italic += token.nesting
        case "link_open":
            look.href.append(web_address(str(token.attrs.get("href", ""))))
        case "link_close" if look.href:
            look.href.pop()
        case _:
            return


class _Blocks:
    """Gathers blocks from the tokens of a Markdown parser."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._lists: list[int] = []
        self._quotes = 0
        self._heading = 0
        self._marker: str | None = None
        self._rows: list[list[tuple[Run, ...]]] = []
        self._in_table = False
        self.found: list[Block] = []

    def read(self, tokens: Sequence["Token"]) -> list[Block]:
        for token in tokens:
            self._take(token)
        return self.found

    def _take(self, token: "Token") -> None:
        match token.type:
            case "heading_open":
                self._heading = int(token.tag[1:])
            case "heading_close":
                self._heading = 0
            case "blockquote_open" | "blockquote_close":
                self._quotes += token.nesting
            case "bullet_list_open" | "ordered_list_open":
                self._lists.append(0 if token.type == "bullet_list_open" else int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._item()
            case "fence" | "code_block":
                self.found.append(Block("code", self._reader.code(token.content)))
            case "hr":
                self.found.append(Block("rule"))
            case "inline":
                self._inline(token)
            case _:
                self._table(token)

    def _item(self) -> None:
        number = self._lists[-1]
        self._marker = f"{number}." if number else ""
        self._lists[-1] += 1 if number else 0

    def _table(self, token: "Token") -> None:
        if token.type == "table_open":
            self._rows, self._in_table = [], True
        elif token.type == "tr_open":
            self._rows.append([])
        elif token.type == "table_close":
            self.found.append(Block("table", rows=tuple(tuple(row) for row in self._rows)))
            self._in_table = False

    def _inline(self, token: "Token") -> None:
        runs = self._reader.runs(token.children or [])
        if self._in_table:
            self._rows[-1].append(runs)
        elif self._heading:
            self.found.append(Block("heading", runs, self._heading))
        elif self._lists:
            # A second paragraph of an item stands under it without a sign of its own.
            marker, self._marker = self._marker, None
            self.found.append(Block("item", runs, len(self._lists) - 1, " " if marker is None else marker))
        elif runs:
            self.found.append(Block("quote" if self._quotes else "text", runs))
