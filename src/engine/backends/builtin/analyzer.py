"""The Analyzer: reads its sources, and quotes what they say about the task; or says that they say nothing."""

import re
from collections.abc import Sequence

from deepdelve.engine.backends.builtin.briefs import Brief, read_brief, treats_excluded
from deepdelve.engine.backends.builtin.conversation import Call, Conversation, Turn
from deepdelve.engine.backends.builtin.passages import Passage, best_sentences, bridging_leads, weigh_sources
from deepdelve.engine.backends.builtin.relevance import Question, Ranked, SourceText, rank, same_name
from deepdelve.utils.text import STOP_WORDS, fold, terms, words

CLAIMS_PER_SOURCE = 3
# A task that few sources speak of gets more from each.
CLAIMS_IN_ALL = 10
SECTION_LINES = 14
# A question on a finished report wants a short answer.
CLAIMS_ON_REPORT = 3
SOURCES_ON_REPORT = 3
ANSWER_SHARE = 0.6
MAX_SOURCES = 8
# A source far behind the best one is left out.
KEPT_SHARE = 0.3
GREP_WORDS = 6
GREP_HITS = 30
NOTHING = "The sources say nothing on this task."
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_ROW = re.compile(r"(\d+): (.*)")


def analyzer(conversation: Conversation) -> Turn:
    """Read every source, look further into long ones, then report."""
    brief = read_brief(conversation.task)
    if not conversation.since:
        for step in (_read, _look, _read_around):
            calls = step(conversation, brief)
            if calls:
                return Turn(tuple(calls))
    return Turn(text=_report(brief, _sources(conversation, brief)))


def _read(conversation: Conversation, brief: Brief) -> list[Call]:
    """The beginning of every source."""
    if not conversation.may("read_workspace_file"):
        return []
    read = {call.text("name") for call in conversation.tried("read_workspace_file")}
    return [Call("read_workspace_file", {"name": source_id}) for source_id in brief.sources if source_id not in read]


def _look(conversation: Conversation, brief: Brief) -> list[Call]:
    """In sources that are longer than that, the lines that hold the task's words."""
    looked = {call.text("name") for call in conversation.tried("grep_workspace_file")}
    if not conversation.may("grep_workspace_file"):
        return []
    return [
        _grep(call, brief) for call in conversation.done("read_workspace_file") if call.head.get("more") and call.text("name") not in looked
    ]


def _read_around(conversation: Conversation, brief: Brief) -> list[Call]:
    """What stands below the headings that were found, one for each source."""
    if not conversation.may("read_workspace_file"):
        return []
    reads = conversation.tried("read_workspace_file")
    last_line = {call.text("name"): int(call.head.get("to") or 0) for call in reads if call.ok and "start_line" not in call.args}
    around = {call.text("name") for call in reads if "start_line" in call.args}
    asked = frozenset(terms(brief.focus))
    calls: list[Call] = []
    for found in conversation.done("grep_workspace_file"):
        name = found.text("name")
        rows = [(int(row[1]), row[2]) for row in map(_ROW.match, found.fenced.split("\n")) if row]
        headings = [
            (len(asked.intersection(terms(text))), -line) for line, text in rows if text.startswith("#") and line > last_line.get(name, 0)
        ]
        if headings and name not in around:
            calls.append(Call("read_workspace_file", {"name": name, "start_line": -max(headings)[1], "max_lines": SECTION_LINES}))
    return calls


def _grep(call: Call, brief: Brief) -> Call:
    """Look for the words of the task that the part read so far holds least often."""
    counts = words(call.fenced)
    asked = dict.fromkeys(word for word in words(brief.focus) if len(word) > 2 and word not in STOP_WORDS)
    rare = sorted(asked, key=counts.count)[:GREP_WORDS]
    args = {"name": call.text("name"), "pattern": r"\b(?:" + "|".join(map(re.escape, rare)) + ")", "max_hits": GREP_HITS}
    return Call("grep_workspace_file", args)


def _sources(conversation: Conversation, brief: Brief) -> list[SourceText]:
    texts: dict[str, list[str]] = {}
    for call in conversation.done("read_workspace_file"):
        texts.setdefault(call.text("name"), []).append(call.fenced)
    for call in conversation.done("grep_workspace_file"):
        rows = [row[2] for row in map(_ROW.match, call.fenced.split("\n")) if row]
        seen = "\n".join(texts.get(call.text("name"), []))
        texts.setdefault(call.text("name"), []).extend(row for row in rows if not row.startswith("#") and row not in seen)
    return [_source(source_id, "\n\n".join(parts), brief) for source_id, parts in texts.items()]


def _source(source_id: str, text: str, brief: Brief) -> SourceText:
    heading = _HEADING.search(text[:2_000])
    return SourceText(source_id, brief.titles.get(source_id) or (heading.group(1) if heading else ""), text)


def _report(brief: Brief, sources: Sequence[SourceText]) -> str:
    ranked = rank(brief.focus, sources, brief.leads)
    followed = [entry for entry in ranked if _named(entry, brief.leads)]
    if not followed and not any(entry.anchored for entry in ranked):
        return NOTHING
    most = SOURCES_ON_REPORT if brief.on_report else MAX_SOURCES
    kept = [entry for entry in ranked if entry.score >= KEPT_SHARE * ranked[0].score][:most]
    question = weigh_sources(brief.focus, sources)
    leads = bridging_leads(question, kept, [*brief.titles.values(), *brief.leads])
    linked = [*leads, *(entry.source.title for entry in kept)]
    each = max(CLAIMS_PER_SOURCE, CLAIMS_IN_ALL // len(kept)) if not brief.on_report else CLAIMS_ON_REPORT
    found = [(entry.source.id, passage) for entry in kept for passage in _best(brief, question, entry, _others(entry, linked), each)]
    if brief.on_report and found:
        # Here no other task fills in: what says far less than the best sentence is no answer.
        least = ANSWER_SHARE * max(question.coverage(terms(passage.text)) for _, passage in found)
        found = [(key, passage) for key, passage in found if question.coverage(terms(passage.text)) >= least]
    lines = [f'- {passage.text} [{key}] "{passage.quote}"' for key, passage in found]
    if not lines:
        return NOTHING
    if leads:
        lines += ["", "FOLLOW-UP DIRECTIONS:", *(f"- {lead}" for lead in leads)]
    return "\n".join(lines)


def _best(brief: Brief, question: Question, entry: Ranked, others: Sequence[str], each: int) -> list[Passage]:
    """The best sentences of a source that say nothing of what the whole question leaves out."""
    found = best_sentences(question, entry.source, others, each)
    if not (out := treats_excluded(brief.question, [passage.text for passage in found])):
        return list(found)
    more = best_sentences(question, entry.source, others, 4 * each)
    out = treats_excluded(brief.question, [passage.text for passage in more])
    return [passage for number, passage in enumerate(more) if number not in out][:each]


def _others(entry: Ranked, linked: Sequence[str]) -> list[str]:
    return [name for name in linked if fold(name) != fold(entry.source.title)]


def _named(entry: Ranked, leads: Sequence[str]) -> bool:
    return any(same_name(entry.source.title, lead) for lead in leads)
