"""The Builder: an extractive report from findings.md, every sentence as its source has it, with gaps named."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from deepdelve.engine.backends.builtin.answers import gives_wanted
from deepdelve.engine.backends.builtin.briefs import directive_of, objected_ids, question_of, treats_excluded
from deepdelve.engine.backends.builtin.conversation import Call, Conversation, Turn
from deepdelve.engine.backends.builtin.differing import differences
from deepdelve.engine.backends.builtin.facets import Facet, split_question
from deepdelve.engine.backends.builtin.passages import ANSWER_SHARE, LEANING_SHARE, leaning_answer, weigh_sources
from deepdelve.engine.backends.builtin.relevance import Question, SourceText, weigh
from deepdelve.engine.completion.gaps import as_words, gap_question, gap_sentence
from deepdelve.utils.names import names
from deepdelve.utils.phrases import say
from deepdelve.utils.text import terms

DEFAULT_WORDS = 1_200
TITLE_CHARS = 200
PER_SOURCE = 2
SENTENCES_IN_ALL = 10
# Of what the best sentence of all says of the question, a source's own best has to say this share to be heard, and to be heard twice.
LEAST_SHARES = (0.2, 0.5)
# A facet of whose weighed words no sentence holds this share is not answered: 0.17 was the least of 100 answerable questions.
ANSWER_COVERAGE = 0.15
# What it counts that a sentence gives a time or a number where one is asked for, though it says little else of the question.
ANSWER_BONUS = 0.15
# Such a sentence is kept before others where it says this share of what the nearest of them says.
NEAR_SHARE = 0.6
MOST_ANSWERS = 2
_BULLET = re.compile(r"^- (.+?) \[((?:S\d{1,6})(?:, S\d{1,6})*)\]$")
_WORD_LIMIT = re.compile(r"at most (\d{2,5}) words")
_LANGUAGE = re.compile(r"Write in ([A-Za-z]+)")


@dataclass(frozen=True)
class Statement:
    """A sentence of the findings. ``order`` is its place there; without ``ids`` it holds its citations itself."""

    text: str
    ids: str
    facet: str
    order: int


def builder(conversation: Conversation) -> Turn:
    """Read the findings, write the report."""
    if any(call.tool == "write_workspace_file" for call in conversation.recent):
        return Turn(text="final_report.md is written.")
    parts = [call for call in conversation.recent if call.tool == "read_workspace_file" and call.ok and call.text("name") == "findings.md"]
    more = bool(parts) and bool(parts[-1].head.get("more"))
    if (not parts or more) and conversation.may("read_workspace_file") and len(conversation.recent) < 16:
        start = int(parts[-1].head.get("to") or 0) + 1 if parts else 1
        return Turn((Call("read_workspace_file", {"name": "findings.md", "start_line": start}),))
    findings = "\n".join(call.fenced for call in parts)
    statements, gaps = read_findings(findings)
    told = directive_of(conversation.latest)
    out = objected_ids(told)
    question = question_of(conversation.latest)
    wanted = _without_excluded(question, statements)
    kept = [statement for statement in wanted if statement.text not in told and not out.issuperset(statement.ids.split(", "))]
    if not kept or not conversation.may("write_workspace_file"):
        return Turn(text="There are no findings to build a report from.")
    text = report(question, kept, [*gaps, *_asked_gaps(told)], conversation.instructions)
    return Turn((Call("write_workspace_file", {"name": "final_report.md", "text": text}),))


def _without_excluded(question: str, statements: Sequence[Statement]) -> list[Statement]:
    """The statements that say nothing of what the question leaves out."""
    out = treats_excluded(question, [statement.text for statement in statements])
    return [statement for number, statement in enumerate(statements) if number not in out]


def read_findings(text: str) -> tuple[list[Statement], list[str]]:
    """The statements of findings.md, and what it says is unanswered."""
    statements: list[Statement] = []
    gaps: list[str] = []
    facet = ""
    for line in text.split("\n"):
        if line.startswith("## "):
            facet = line[3:].strip()
        elif bullet := _BULLET.match(line):
            statements.append(Statement(bullet.group(1), bullet.group(2), facet, len(statements)))
        elif open_question := gap_question(line):
            gaps.append(open_question)
    return statements, gaps


def report(question: str, statements: Sequence[Statement], gaps: Sequence[str], form: str) -> str:
    """The report in the form that the instructions ask for, within their number of words."""
    limit = _WORD_LIMIT.search(form)
    asked_language = _LANGUAGE.search(form)
    language = asked_language.group(1) if asked_language else ""
    words = int(limit.group(1)) if limit else DEFAULT_WORDS
    facets = split_question(question)
    answered = {statement.facet for statement in statements}
    unheard = [
        facet.name
        for facet in facets
        if not _answered(facet, statements) or (len(facets) > 1 and facet.name not in answered and not _mentioned(facet.name, statements))
    ]
    missing = list(dict.fromkeys([*gaps, *unheard]))
    closing = [gap_sentence(gap, language) for gap in missing]
    title = f"# {as_words(question).rstrip('.')[:TITLE_CHARS]}"
    room = words - len(title.split()) - sum(len(line.split()) for line in closing) - 8 * len(answered)
    parts = len({(statement.facet, statement.ids) for statement in statements})
    kept = _side_by_side(_within(question, statements, room, max(PER_SOURCE, SENTENCES_IN_ALL // parts)), statements, language, room)
    if limit:
        return _joined([title, " ".join(map(_cited, kept)), *closing])
    if "## Abstract" in form:
        return _joined([title, *_academic(question, kept, closing, language)])
    open_questions = [f"## {say('open_questions', language)}", *closing] if closing else []
    return _joined([title, *_sections(question, kept, language), *open_questions])


def _mentioned(facet: str, statements: Sequence[Statement]) -> bool:
    """Whether a sentence holds every word of a facet's name."""
    asked = frozenset(terms(facet))
    return any(asked <= frozenset(terms(statement.text)) for statement in statements)


def _answered(facet: Facet, statements: Sequence[Statement]) -> bool:
    """Whether any sentence says enough of a facet to be called an answer to it."""
    said = [frozenset(terms(statement.text)) for statement in statements]
    weighed = weigh(facet.text, said)
    return any(weighed.coverage(present) >= ANSWER_COVERAGE for present in said)


def _within(question: str, statements: Sequence[Statement], room: int, per_part: int) -> list[Statement]:
    """Of each source, for each facet, its sentences that fit the question best; in their order, as long as there is room."""
    weighed = weigh_sources(question, [SourceText(s.ids, "", s.text) for s in statements])
    parts: dict[tuple[str, str], list[Statement]] = {}
    for statement in statements:
        parts.setdefault((statement.facet, statement.ids), []).append(statement)
    kept: list[Statement] = []
    held = {statement.order: frozenset(terms(statement.text)) for statement in statements}
    says = {order: weighed.coverage(present) for order, present in held.items()}
    for before, statement in pairwise(statements):
        if before.ids == statement.ids and before.facet == statement.facet and leaning_answer(question, statement.text):
            says[statement.order] += LEANING_SHARE * says[before.order]
    answers = _answers(question, weighed, statements)
    says |= {s.order: (1 + ANSWER_SHARE) * says[s.order] + ANSWER_BONUS / (1 + rank) for rank, s in enumerate(answers)}
    silent = [own for own in parts.values() if not any(says[s.order] for s in own)]
    most = max(says.values(), default=0.0)
    covered: frozenset[str] = frozenset()
    # The best sentence of every part comes before the second of any; what is not yet said counts twice.
    for place in range(per_part):
        least = LEAST_SHARES[min(place, 1)] * most
        for own in parts.values():
            fits = max(says[s.order] for s in own) >= least
            bridges = [s for s in own if s in answers[:MOST_ANSWERS] or own in silent or _leads_to(s, silent)] if place < PER_SOURCE else []
            left = [s for s in own if s not in kept and ((fits and says[s.order] > 0) or s in bridges)]
            best = max(left, key=lambda s: (says[s.order] + weighed.coverage(held[s.order] - covered), -s.order), default=None)
            if best is not None and len(best.text.split()) < room:
                room -= len(best.text.split()) + 1
                covered |= held[best.order]
                kept.append(best)
    return sorted(kept, key=lambda statement: statement.order)


def _answers(question: str, weighed: Question, statements: Sequence[Statement]) -> list[Statement]:
    """The sentences that give a time or a number where one is asked for, the nearest to what is asked first, the shorter before the longer.

    Every chosen source has to do with the names of the question; what else a sentence says of it counts.
    """
    named = frozenset(term for name in weighed.names for term in name.split())
    near = {s.order: weighed.coverage(terms(s.text), besides=named) for s in statements if gives_wanted(question, s.text)}
    least = NEAR_SHARE * max(near.values(), default=0.0)
    found = [s for s in statements if near.get(s.order, 0.0) > 0 and near[s.order] >= least]
    return sorted(found, key=lambda s: (-near[s.order], len(s.text)))


def _side_by_side(kept: Sequence[Statement], statements: Sequence[Statement], language: str, room: int) -> list[Statement]:
    """The kept sentences; where one gives a figure for which another source has a different one, one sentence tells both.

    Where that is more than there is room for, the last sentences make place for it.
    """
    told = list(kept)
    for difference in differences([(statement.ids, statement.text) for statement in statements], language):
        ours = [statement for statement in told if (statement.ids, statement.text) in difference.said]
        if ours and len(difference.text.split()) < room:
            place = told.index(ours[0])
            rest = [statement for statement in told if statement not in ours]
            told = [*rest[:place], Statement(difference.text, "", ours[0].facet, ours[0].order), *rest[place:]]
    while sum(len(_cited(statement).split()) for statement in told) > room and any(statement.ids for statement in told):
        told.remove(next(statement for statement in reversed(told) if statement.ids))
    return told


def _leads_to(statement: Statement, silent: Sequence[Sequence[Statement]]) -> bool:
    """Whether a sentence names what a source is about that has no word of the question: it says why that source is there."""
    return any(other.text.startswith(name) for name in names(statement.text) for own in silent for other in own)


def _sections(question: str, statements: Sequence[Statement], language: str) -> list[str]:
    """A section for each facet, a paragraph for each source; a question of one facet needs no heading."""
    parts: list[str] = []
    facets = split_question(question)
    only = facets[0].name if len(facets) == 1 else ""
    for facet in dict.fromkeys(statement.facet for statement in statements):
        own = [statement for statement in statements if statement.facet == facet]
        by_source = dict.fromkeys(statement.ids for statement in own)
        heading = [f"## {as_words(facet) or say('further_findings', language)}"] if parts or facet != only else []
        parts += [*heading, *(" ".join(_cited(s) for s in own if s.ids == ids) for ids in by_source)]
    return parts


def _academic(question: str, statements: Sequence[Statement], closing: Sequence[str], language: str) -> list[str]:
    first, rest = statements[0], statements[1:]
    abstract, background, findings, limitations = (
        f"## {say(name, language)}" for name in ("abstract", "background", "findings", "limitations")
    )
    parts = [abstract, _cited(first), background, say("one_question", language), as_words(question)]
    if rest:
        parts += [findings, *(f"#{part}" if part.startswith("## ") else part for part in _sections(question, rest, language))]
    return [*parts, limitations, say("quotes_only", language), *closing]


def _cited(statement: Statement) -> str:
    return f"{statement.text} [{statement.ids}]" if statement.ids else statement.text


def _asked_gaps(told: str) -> list[str]:
    """Gaps that a directive wants disclosed, in the one wording that there is."""
    return [question for sentence in re.split(r"(?<=[.。])\s+", told) if (question := gap_question(sentence))]


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
