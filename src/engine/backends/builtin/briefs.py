"""What the engine's first messages say, taken apart: labelled lines, source ids, titles, and the evidence for writers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile

from deepdelve.engine.backends.builtin.conversation import split_fence
from deepdelve.engine.backends.builtin.passages import plain
from deepdelve.engine.facets import excluded_topics, without_exclusions
from deepdelve.utils.grounding import topics
from deepdelve.utils.text import squash, terms

LEADS_LABEL = "Directions worth following"
# Longer quotes may have been cut, perhaps within a word.
CUT_QUOTE_CHARS = 380
MAX_QUOTATIONS = 20
_LABELS = {
    "Question of the whole run": "question",
    "Question": "question",
    "The person was asked": "",
    "The person answered": "",
    "Your task": "task",
    "Part of the question": "facet",
    "Parts of the question": "parts",
    "It asks for these parts": "parts",
    "Instructions": "instructions",
    LEADS_LABEL: "leads",
    "For the question": "",
    "Sources to read": "sources",
    "The evidence": "",
    "The report": "report",
}
_QUESTION = "Question:"
_LABEL = re.compile(rf"^({'|'.join(map(re.escape, _LABELS))}):[ \t]*")
_SOURCE_ID = re.compile(r"\bS\d{1,6}\b")
_BARE_ID = re.compile(r"(?<![\[\w])S\d{1,6}\b(?!\])")
_TAKE_OUT = re.compile(r"\btake (?:them|it|the statements|out)\b|\battribute nothing\b", re.IGNORECASE)
_TITLE = re.compile(r"^(S\d{1,6}): (.*?)(?: \(\d+ characters\))?$")
_ENTRY = re.compile(r"^\[(S\d{1,6})\] (.*)$")
_FACET = re.compile(r"^## (.+)$")
_QUOTE = re.compile(r' "(?=[^ ])')


@dataclass(frozen=True)
class Brief:
    """A dispatch's first message. ``on_report``: it is a question on a finished report."""

    question: str = ""
    task: str = ""
    facet: str = ""
    instructions: str = ""
    leads: tuple[str, ...] = ()
    on_report: bool = False
    sources: tuple[str, ...] = ()
    titles: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def focus(self) -> str:
        """What is asked of this dispatch."""
        return without_exclusions(self.instructions or self.facet or self.task or self.question)


@dataclass(frozen=True)
class Evidence:
    """What one source says on one facet: its claims, as sentences."""

    source_id: str
    title: str
    facet: str
    claims: tuple[str, ...]


def read_brief(message: str) -> Brief:
    """The labelled lines of a first message; a message without labels is the question itself."""
    said, listed = split_fence(message)
    fields: dict[str, list[str]] = {}
    # What stands before the first label is advice; without any label the message is the question.
    current = "" if any(map(_LABEL.match, said.split("\n"))) else "question"
    for line in said.split("\n"):
        label = _LABEL.match(line)
        if label:
            current = _LABELS[label.group(1)]
        fields.setdefault(current, []).append(line[label.end() :] if label else line)
    found = {name: squash(" ".join(lines)) for name, lines in fields.items()}
    titles = {match[1]: match[2] for match in map(_TITLE.match, listed.split("\n")) if match}
    return Brief(
        question=found.get("question", ""),
        task=found.get("task", ""),
        facet=found.get("facet", ""),
        instructions=found.get("instructions", ""),
        leads=tuple(part.strip() for part in found.get("leads", "").split(";") if part.strip()),
        on_report="report" in found,
        sources=tuple(dict.fromkeys(_SOURCE_ID.findall(found.get("sources", "")))),
        titles=titles,
    )


def question_of(message: str) -> str:
    """The question of the run in a message, wherever it stands: what its label names, up to the next empty line or label.

    A message without that label is the question itself, as far as its first paragraph goes.
    """
    lines = iter(_outside(message).split("\n"))
    for line in lines:
        if line.startswith(_QUESTION):
            rest = takewhile(lambda later: later.strip() and not _LABEL.match(later), lines)
            return squash(" ".join([line.removeprefix(_QUESTION), *rest]))
    return read_brief(message.partition("\n\n")[0]).question


def objected_ids(told: str) -> frozenset[str]:
    """Source ids that a directive wants out of the text. Ids in brackets are examples; those to be added are no objection."""
    return frozenset(_BARE_ID.findall(told)) if _TAKE_OUT.search(told) else frozenset()


def read_evidence(message: str) -> list[Evidence]:
    """The entries of the evidence in a FindingsWriter's message, in its order."""
    start = message.rfind("\nThe evidence:\n")
    return list(_entries(split_fence(message[start + 1 :])[1])) if start >= 0 else []


def directive_of(message: str) -> str:
    """What a writer is told to mend: all that stands outside the fences, on one line."""
    return squash(_outside(message))


def _outside(message: str) -> str:
    rest = message
    told: list[str] = []
    while rest:
        before, inside = split_fence(rest)
        told.append(before)
        # Everything up to the end of this fence is done with.
        rest = rest[rest.index(inside) + len(inside) :].partition("\n")[2].partition("\n")[2] if inside else ""
    return "\n".join(told)


def _entries(text: str) -> Iterator[Evidence]:
    facet, source_id, title = "", "", ""
    claims: list[str] = []
    for line in [*text.split("\n"), "## "]:
        entry, heading = _ENTRY.match(line), _FACET.match(line)
        if entry or line.startswith("## "):
            if source_id and claims:
                yield Evidence(source_id, title, facet, tuple(claims))
            source_id, title, claims = (entry.group(1), entry.group(2), []) if entry else ("", "", [])
            facet = heading.group(1) if heading else facet
        elif line.startswith("- "):
            claims.append(_without_quote(line[2:].strip()))


def _without_quote(line: str) -> str:
    """A claim without the quote behind it; the claim may hold quotations of its own."""
    if not line.endswith('"'):
        return line
    for match in islice(_QUOTE.finditer(line), MAX_QUOTATIONS):
        claim, quoted = terms(line[: match.start()]), line[match.end() : -1]
        quote = terms(plain(quoted))
        cut = len(quoted) >= CUT_QUOTE_CHARS and claim[: len(quote) - 1] == quote[:-1]
        # An item of a list is claimed with the words that lead into it, and quoted without them.
        if cut or (quote and claim[-len(quote) :] == quote):
            return line[: match.start()]
    return line


def treats_excluded(question: str, sentences: Sequence[str]) -> set[int]:
    """The numbers of the sentences that treat what the question leaves out."""
    left_out = dict.fromkeys([*topics.excluded(question), *excluded_topics(question)])
    return {number for number, _ in topics.treated(sentences, list(left_out))}
