"""The query language: words, "quoted phrases", field:value, AND, OR, NOT and parentheses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from deepdelve.core.errors import UsageError

MAX_NESTING = 20
MAX_TERMS = 64
FIELDS = frozenset({"kind", "session", "run", "model", "style", "rundepth", "since", "until", "depth", "effort", "role"})
# Fields that say how to search, or hold for the whole search: they cannot stand under NOT or OR.
_GLOBAL = frozenset({"depth", "effort", "since", "until"})
_EFFORTS = {"deep": "targeted"}
_JOINTS = frozenset({"AND", "OR"})


@dataclass(frozen=True)
class Term:
    """Text that a record must hold; a phrase is compared with runs of white space as one space."""

    text: str
    phrase: bool = False


@dataclass(frozen=True)
class Fact:
    """A field of a record and the value that it must have."""

    name: str
    value: str


@dataclass(frozen=True)
class Pattern:
    """A regular expression."""

    text: str


@dataclass(frozen=True)
class Not:
    """What must not hold."""

    part: "Expression"


@dataclass(frozen=True)
class All:
    """Everything must hold."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True)
class Any:
    """One must hold."""

    parts: tuple["Expression", ...]


Expression: TypeAlias = Term | Fact | Pattern | Not | All | Any


@dataclass(frozen=True)
class Parsed:
    """A parsed search: the expression over records, and what was said of the search as a whole.

    ``mentioned`` are the kinds that the expression itself speaks of, as they were typed.
    """

    expression: Expression | None = None
    effort: str = ""
    kinds: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    mentioned: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Token:
    text: str
    kind: str  # word, phrase, open, close

    @property
    def joint(self) -> bool:
        """Whether it joins two parts."""
        return self.kind == "word" and self.text in _JOINTS

    @property
    def negation(self) -> bool:
        """Whether it turns the part behind it round."""
        return self.kind == "word" and self.text == "NOT"


def parse(terms: str, *, any_term: bool = False, regex: bool = False) -> Parsed:
    """The expression of a search.

    Args:
        terms: what was typed.
        any_term: words side by side are joined by OR.
        regex: the whole is one pattern.

    Raises:
        UsageError: it cannot be understood; says what to change.
    """
    if regex:
        return Parsed(Pattern(terms.strip()) if terms.strip() else None)
    tokens = _tokens(terms)
    if sum(token.kind in {"word", "phrase"} for token in tokens) > MAX_TERMS:
        raise UsageError("The search has too many words.", f"Keep it to {MAX_TERMS}.")
    _refuse_gaps(tokens)
    reader = _Reader(tokens, any_term)
    expression = reader.either(0)
    if reader.place < len(tokens):
        raise UsageError("A parenthesis is closed that was never opened.", "Put words with parentheses in quotation marks.")
    return Parsed(expression, reader.effort, tuple(reader.kinds), reader.fields, tuple(reader.mentioned))


def _tokens(terms: str) -> list[_Token]:
    found: list[_Token] = []
    place = 0
    while place < len(terms):
        char = terms[place]
        if char.isspace():
            place += 1
        elif char == '"':
            end = terms.find('"', place + 1)
            end = len(terms) if end < 0 else end
            if phrase := " ".join(terms[place + 1 : end].split()):
                found.append(_Token(phrase, "phrase"))
            place = end + 1
        elif char == "(":
            found.append(_Token(char, "open"))
            place += 1
        else:
            end = _word_end(terms, place)
            found += _word_tokens(terms[place:end])
            place = end
    return found


def _word_end(terms: str, place: int) -> int:
    """Where a word ends; a quoted value belongs to its field."""
    name, colon, _ = terms[place : place + 40].partition(':"')
    if colon and name in FIELDS:
        end = terms.find('"', place + len(name) + 2)
        return len(terms) if end < 0 else end + 1
    end = place
    while end < len(terms) and not terms[end].isspace() and terms[end] != '"':
        end += 1
    return end


def _word_tokens(word: str) -> list[_Token]:
    """A word, and the parentheses that close behind it unless it holds their opening (``f(x)``)."""
    closing = 0
    while word.endswith(")") and word.count(")") > word.count("("):
        word, closing = word[:-1], closing + 1
    return [*([_Token(word, "word")] if word else []), *[_Token(")", "close")] * closing]


def _refuse_gaps(tokens: list[_Token]) -> None:
    """Hold that AND, OR and NOT have their parts, and parentheses hold something.

    Raises:
        UsageError: one lacks a part.
    """
    edge = _Token("", "edge")
    for token, following in zip([edge, *tokens], [*tokens, edge], strict=True):
        wanting = token.joint or token.negation
        begins = following.kind in {"word", "phrase", "open"} and not following.joint
        if wanting and not begins:
            raise UsageError(f"Nothing stands behind {token.text}.", f"Say what follows {token.text}, or put the word in quotation marks.")
        if following.joint and token.kind in {"edge", "open"}:
            raise UsageError(
                f"Nothing stands before {following.text}.", f"Say what stands before {following.text}, or put the word in quotation marks."
            )
        if token.kind == "open" and following.kind == "close":
            raise UsageError("A parenthesis holds nothing.", "Put words with parentheses in quotation marks.")


class _Reader:
    """Recursive descent over the tokens: OR binds least, then AND (also unwritten), then NOT."""

    def __init__(self, tokens: list[_Token], any_term: bool) -> None:
        self.tokens = tokens
        self.any_term = any_term
        self.place = 0
        self.effort = ""
        self.kinds: list[str] = []
        self.mentioned: list[str] = []
        self.fields: dict[str, str] = {}
        self._choosing = any(token.kind == "word" and token.text in {"OR", "NOT"} for token in tokens)

    def either(self, depth: int) -> Expression | None:
        """Parts joined by OR."""
        if depth > MAX_NESTING:
            raise UsageError("The parentheses are nested too deeply.", f"Keep to {MAX_NESTING} levels.")
        parts = [self.every(depth)]
        while self._next("OR"):
            self.place += 1
            parts.append(self.every(depth))
        return _joined(Any, parts)

    def every(self, depth: int) -> Expression | None:
        """Parts joined by AND or by nothing."""
        parts: list[Expression | None] = []
        facts: list[Expression | None] = []
        while self.place < len(self.tokens) and self.tokens[self.place].kind != "close" and not self._next("OR"):
            if self._next("AND"):
                self.place += 1
                continue
            part = self.negated(depth)
            (facts if _of_fields(part) else parts).append(part)
        return _joined(All, [_joined(Any if self.any_term else All, parts), *facts])

    def negated(self, depth: int) -> Expression | None:
        """A part, or its opposite."""
        negative = False
        while self._next("NOT"):
            self.place += 1
            negative = not negative
        part = self.single(depth)
        return Not(part) if negative and part is not None else part

    def single(self, depth: int) -> Expression | None:
        """A word, a phrase, a field or a group."""
        token = self.tokens[self.place]
        self.place += 1
        if token.kind == "open":
            inner = self.either(depth + 1)
            if self.place >= len(self.tokens):
                raise UsageError("A parenthesis is never closed.", "Put words with parentheses in quotation marks.")
            self.place += 1
            return inner
        if token.kind == "phrase":
            return Term(token.text, phrase=True)
        return self._word(token.text)

    def _word(self, word: str) -> Expression | None:
        name, colon, value = word.partition(":")
        value = value.strip('"')
        if not colon or name not in FIELDS or not value:
            return Term(word)
        if name in _GLOBAL and self._choosing:
            raise UsageError(f"{name}: holds for the whole search and cannot stand beside OR or NOT.", "Give it as an option.")
        if name in {"depth", "effort"}:
            self._set_effort(_EFFORTS.get(value, value))
            return None
        if name == "kind":
            return self._kinds([part for part in value.split(",") if part])
        if self._choosing or name == "role":
            return Fact(name, value)
        if self.fields.setdefault(name, value) != value:
            raise UsageError(f"Two values are given for {name}.", "Give one.")
        return None

    def _kinds(self, words: list[str]) -> Expression | None:
        """Kinds for the whole search, or, beside OR and NOT, as a part of it."""
        if not self._choosing:
            self.kinds += words
            return None
        self.mentioned += words
        return _joined(Any, [Fact("kind", word) for word in words])

    def _set_effort(self, effort: str) -> None:
        if self.effort and self.effort != effort:
            raise UsageError("Two efforts are given.", "Give depth: once.")
        self.effort = effort

    def _next(self, word: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place] == _Token(word, "word")


def _of_fields(part: Expression | None) -> bool:
    return isinstance(part, Fact) or (isinstance(part, Any) and all(isinstance(inner, Fact) for inner in part.parts))


def _joined(kind: type[All] | type[Any], parts: list[Expression | None]) -> Expression | None:
    known = tuple(part for part in parts if part is not None)
    if not known:
        return None
    return known[0] if len(known) == 1 else kind(known)
