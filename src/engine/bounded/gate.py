"""What a note must be before it may enter the vault: long enough, cited by valid numbers and addresses only, and carried by its sources."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from deepdelve.core.records import Claim, ClaimCounts, Source
from deepdelve.engine.bounded.records import FetchedSource
from deepdelve.engine.bounded.replies import without_thinking
from deepdelve.utils.grounding import citations, claims, ledger
from deepdelve.utils.grounding.claims import Sentence
from deepdelve.utils.grounding.support import LexicalVerifier
from deepdelve.utils.urls import canonical

MIN_LETTERS = 120
MAX_CHARS = 200_000
_NUMBERS = re.compile(r"\[\s{0,2}(\d{1,4}(?:\s{0,2}[,;–-]\s{0,2}\d{1,4}){0,12})\s{0,2}\](?!\()")
_TRAILING = re.compile(r"(?:\s{0,2}\[\s{0,2}\d{1,4}(?:\s{0,2}[,;–-]\s{0,2}\d{1,4}){0,12}\s{0,2}\][.,;]?){0,8}")
_URL = re.compile(r"https?://[^\s<>\"'`|\\^{}\[\]]{1,2000}", re.I)
_OWN_LIST = re.compile(r"(?mi)^#{1,6}[ \t]+(?:references|sources|bibliography|works cited|quellen|literatur)[ \t:]*$")
_WRAPPED = re.compile(r"\A(?:```|~~~)(?:markdown|md)?[ \t]*\n")
_EMPTY_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])?[ \t]*$")
_BLANKS = re.compile(r"\n{3,}")
_BAD_STATUS = frozenset({"unsupported", "contradicted", "unchecked"})
_LINE_END = ".,;:!?)"


@dataclass(frozen=True)
class GateResult:
    """What became of a note.

    Attributes:
        ok: whether it may enter the vault.
        text: the note, where need be without the sentences that may not stay.
        problems: what is wrong with it, one line each.
        cited: the numbers that it cites.
        counts: its claims by what became of them.
        dropped: how many sentences were taken out.
    """

    ok: bool
    text: str
    problems: tuple[str, ...] = ()
    cited: tuple[int, ...] = ()
    counts: ClaimCounts = field(default_factory=ClaimCounts)
    dropped: int = 0


@dataclass(frozen=True)
class _Look:
    problems: tuple[str, ...]
    bad: tuple[tuple[int, int], ...]
    cited: tuple[int, ...]
    counts: ClaimCounts


def check_synthesis(reply: str, topic: str, sources: Sequence[FetchedSource]) -> GateResult:
    """Check a note, and once more after sentences were dropped that cite what is not there or say what no source carries. Blocking.

    Args:
        reply: what the writer said.
        topic: a sentence that only restates it needs no citation.
        sources: number 1 first.
    """
    text = tidy(reply)
    look = _look(text, topic, sources)
    dropped = 0
    if look.bad:
        dropped = len(look.bad)
        text = _without(text, look.bad)
        look = _look(text, topic, sources)
    return GateResult(not look.problems, text, look.problems, look.cited, look.counts, dropped)


def tidy(reply: str) -> str:
    """A reply as Markdown: without thinking, the fence around the whole, and a list of references of the writer's own."""
    text = without_thinking(reply).replace("\x00", "").replace("\r\n", "\n")[:MAX_CHARS].strip()
    wrapped = _WRAPPED.match(text)
    if wrapped:
        text = text[wrapped.end() :].rstrip()
        text = text[:-3].rstrip() if text.endswith(("```", "~~~")) else text
    listed = _OWN_LIST.search(text)
    return (text[: listed.start()] if listed else text).strip()


def numbers_in(text: str) -> list[int]:
    """The numbers that a text cites, in order; ranges count with all their members."""
    found: list[int] = []
    for match in _NUMBERS.finditer(text):
        for part in re.split(r"[,;]", match[1]):
            ends = [int(word) for word in re.split(r"[–-]", part) if word.strip()]
            found += range(ends[0], ends[-1] + 1) if len(ends) == 2 and 0 <= ends[-1] - ends[0] < 50 else ends
    return found


def _look(text: str, topic: str, sources: Sequence[FetchedSource]) -> _Look:
    known = {canonical(source.url) for source in sources}
    parsed = citations.parse(text, known=[str(n) for n in range(1, len(sources) + 1)])
    sentences = claims.segment(text, parsed)
    invalid = [sentence for sentence in sentences if _invalid(_raw(text, sentence), len(sources), known)]
    checked = _checked(text, topic, sources, parsed)
    uncarried = [claim for claim in checked if claim.needs_citation and (claim.status in _BAD_STATUS or not claim.citations)]
    bad = {(sentence.start, sentence.end) for sentence in invalid} | {claim.span for claim in uncarried if claim.span}
    bad |= _orphaned(text, sentences, bad)
    cited = tuple(sorted({n for n in numbers_in(text) if 1 <= n <= len(sources)}))
    problems = [f"cites what is not there: {sentence.text[:120]}" for sentence in invalid]
    problems += [f"{claim.status}: {claim.text[:120]}" for claim in uncarried]
    if any(_invalid(line, len(sources), known) for line in text.splitlines()) and not invalid:
        problems.append("a line cites a number or an address that is not there")
    if sum(char.isalnum() for char in text) < MIN_LETTERS:
        problems.append("too little text")
    if not cited:
        problems.append("cites no source")
    return _Look(tuple(problems), tuple(sorted(bad)), cited, ledger.counts(checked))


def _checked(text: str, topic: str, sources: Sequence[FetchedSource], parsed: citations.ParsedReport) -> list[Claim]:
    records = {str(n): Source(id=str(n), url=source.url, title=source.title, file="text") for n, source in enumerate(sources, 1)}
    texts = {str(n): source.text for n, source in enumerate(sources, 1)}
    numbers = {source.canonical_url: str(n) for n, source in enumerate(sources, 1)}
    for label, entry in parsed.references.items():
        number = numbers.get(canonical(entry.url)) if entry.url else None
        if label not in records and number is not None:
            records[label], texts[label] = records[number], texts[number]
    return ledger.build_ledger(text, records, texts, LexicalVerifier(), topic, parsed)


def _raw(text: str, sentence: Sentence) -> str:
    """A sentence as it stands, with the citations behind it."""
    trailing = _TRAILING.match(text, sentence.end)
    return text[sentence.start : trailing.end() if trailing else sentence.end]


def _invalid(raw: str, most: int, known: set[str]) -> bool:
    if any(not 1 <= n <= most for n in numbers_in(raw)):
        return True
    return any(canonical(_trimmed(match[0])) not in known for match in _URL.finditer(raw))


def _trimmed(url: str) -> str:
    """An address without what belongs to the sentence around it."""
    url = url.rstrip(_LINE_END.replace(")", ""))
    return url if url.count("(") >= url.count(")") else url.rstrip(_LINE_END)


def _orphaned(text: str, sentences: Sequence[Sentence], bad: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Uncited sentences in front of one that goes: they borrowed its citation."""
    found: set[tuple[int, int]] = set()
    falling = -1
    for sentence in reversed(sentences):
        span = (sentence.start, sentence.end)
        if span in bad:
            falling = sentence.block
        elif sentence.block != falling or numbers_in(_raw(text, sentence)):
            falling = -1
        elif sentence.kind != "heading":
            found.add(span)
    return found


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text without these sentences and their citations, and without list items and headings that are left empty."""
    kept: list[str] = []
    at = 0
    for start, end in spans:
        trailing = _TRAILING.match(text, end)
        kept.append(text[at:start])
        at = max(at, trailing.end() if trailing else end)
    kept.append(text[at:])
    before, after = text.splitlines(), "".join(kept).splitlines()
    held = {line.strip() for line in before}
    lines = [line for line in after if not line.strip() or line.strip() in held or not _EMPTY_ITEM.match(line)]
    return _BLANKS.sub("\n\n", "\n".join(_with_content(lines))).strip()


def _with_content(lines: Sequence[str]) -> list[str]:
    """Lines without headings that have nothing below them; the title stays."""
    kept: list[str] = []
    filled = False
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        level = len(line) - len(line.lstrip("#"))
        if level and line[level : level + 1] == " ":
            if filled or level == 1:
                kept.append(line)
            filled = filled and level > 2
        else:
            filled = filled or bool(line.strip())
            kept.append(line)
    return kept[::-1]
