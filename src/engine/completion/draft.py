"""A draft, taken apart once: sections, sentences, and the source ids that each cites."""

from dataclasses import dataclass, field
from functools import cached_property

import regex

from deepdelve.utils.words import content_words, count_words, sentences, word_set

MARKER = regex.compile(r"\[\s*S\d{1,6}(?:\s*[,;]\s*S\d{1,6})*\s*\]")
_ID = regex.compile(r"S\d{1,6}")
_HEADING = regex.compile(r"^(#{1,6})[ \t]+(\S.*)$")
# Lists of sources that a model adds of itself are no part of the argument.
_REFERENCE_TITLES = frozenset({"works cited", "literature cited"}) | word_set(
    """
    sources references bibliography quellen literatur literaturverzeichnis références bibliographie fuentes referencias bibliografía fonti
    riferimenti bibliografia bronnen referenties fontes referências 参考文献 参考资料 来源 出典
    """
)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a draft and the ids that it cites, in order."""

    text: str
    citations: tuple[str, ...] = ()
    section: str = ""

    @cached_property
    def words(self) -> frozenset[str]:
        """Its content words, markers left out."""
        return content_words(MARKER.sub(" ", self.text))

    @cached_property
    def key(self) -> str:
        """The sentence without markers, case and spacing: equal for a sentence that was copied."""
        return " ".join(MARKER.sub(" ", self.text).casefold().split()).strip(" .")


@dataclass(frozen=True)
class Section:
    """A heading with the text up to the next heading; ``level`` 0 is the text before the first one."""

    title: str
    level: int
    text: str
    sentences: tuple[Sentence, ...] = ()

    @property
    def references(self) -> bool:
        """Whether this is a list of sources."""
        return self.title.casefold().strip(" :*_") in _REFERENCE_TITLES


@dataclass(frozen=True)
class Draft:
    """The text of a draft and its parts. ``cited`` are the ids cited anywhere in the body, in order of first use."""

    text: str = ""
    sections: tuple[Section, ...] = ()
    cited: tuple[str, ...] = ()
    word_count: int = field(default=0)

    @property
    def exists(self) -> bool:
        """Whether there is any text."""
        return bool(self.text.strip())

    @property
    def body(self) -> list[Section]:
        """Sections that are no list of sources."""
        return [section for section in self.sections if not section.references]

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the body."""
        return tuple(sentence for section in self.body for sentence in section.sentences)

    @cached_property
    def words(self) -> frozenset[str]:
        """Content words of the body and its headings, save the title, which repeats the question, and headings over nothing."""
        found: set[str] = set()
        for number, section in enumerate(self.body):
            if section.sentences and not (section.level == 1 and number == 0):
                found |= content_words(section.title)
            for sentence in section.sentences:
                found |= sentence.words
        return frozenset(found)


def cited_ids(text: str) -> tuple[str, ...]:
    """The source ids that a text cites, each once, in order."""
    return tuple(dict.fromkeys(i for marker in MARKER.finditer(text) for i in _ID.findall(marker.group())))


def parse_draft(text: str) -> Draft:
    """Take a draft apart. Linear in its length; any text is accepted."""
    sections = tuple(_sections(text))
    body = [section for section in sections if not section.references]
    cited = tuple(dict.fromkeys(i for section in body for sentence in section.sentences for i in sentence.citations))
    return Draft(text=text, sections=sections, cited=cited, word_count=count_words(text))


def _sections(text: str) -> list[Section]:
    found: list[Section] = []
    title, level, lines = "", 0, list[str]()
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        match = None if fenced else _HEADING.match(line)
        if match is None:
            lines.append(line)
            continue
        found.append(_section(title, level, lines))
        title, level, lines = match.group(2).rstrip("# \t"), len(match.group(1)), []
    found.append(_section(title, level, lines))
    return [section for section in found if section.level or section.text.strip()]


def _section(title: str, level: int, lines: list[str]) -> Section:
    text = "\n".join(lines).strip("\n")
    return Section(title, level, text, tuple(Sentence(s, cited_ids(s), title) for s in sentences(text)))
