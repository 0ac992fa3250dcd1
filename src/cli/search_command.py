"""``deepdelve search``, ``open`` and ``history``: what was asked and found before."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from deepdelve.cli.output import print_json, print_text
from deepdelve.cli.parser import exits, one_of
from deepdelve.cli.text import counted, one_line
from deepdelve.core.errors import UsageError

if TYPE_CHECKING:
    from deepdelve.engine import facade

NOTHING_FOUND = 1
INCOMPLETE = 3
SEARCH_EXITS = exits(
    {
        0: "found",
        NOTHING_FOUND: "nothing found, and the search was brought to its end",
        INCOMPLETE: "not brought to its end: what was found is printed, an empty answer proves nothing",
    }
)
_WIDTH = 160
_AROUND = 60
_TEXTS = {
    "session": "only records of this session",
    "run": "only records of this run",
    "model": "only records of runs with this model",
    "style": "only records of runs with this report style",
    "since": "only from this day or moment on, such as 2026-03-01",
    "until": "only up to this day, or before this moment",
}
_OUTCOMES = {
    "no_prompt_match": "No prompt matches.",
    "no_candidate_conversation": "No prompt matches, so no conversation was read.",
    "no_selected_conversation_match": "The conversations that were read hold no match.",
    "no_exhaustive_match": "Nothing matches.",
    "undetermined": "The search was not brought to its end.",
}
_LADDER = {
    "search.targeted": "--deep reads the likeliest conversations",
    "search.exhaustive": "--exhaustive --scope all reads everything",
    "search.include_sources": "--kinds prompt,reply,finding,report,source reads stored pages too",
    "search.match_across_conversation": "--match-unit conversation lets the words stand in different records",
}


def add_search(parser: argparse.ArgumentParser) -> None:
    """The flags of ``search``."""
    parser.add_argument("terms", nargs="*", metavar="TERMS", help='words, "phrases", field:value, AND, OR, NOT')
    parser.add_argument("--deep", action="store_true", help="also read the conversations that matching prompts name")
    parser.add_argument("--exhaustive", action="store_true", help="read everything in scope")
    parser.add_argument("--scope", type=one_of("prompts", "conversations", "all"), metavar="SCOPE", help="prompts, conversations or all")
    parser.add_argument("--conversation-limit", type=int, metavar="N", help="with --deep: how many conversations (default 25)")
    parser.add_argument("--limit", type=int, metavar="N", help="the most records (default: all)")
    parser.add_argument("--order", type=one_of("newest", "relevance", "scan"), default="newest", help="newest, relevance or scan")
    parser.add_argument("--kinds", metavar="KINDS", help="prompt, reply, finding, report, tool, reasoning, source; separated by commas")
    parser.add_argument("--any", action="store_true", help="one of the words is enough")
    parser.add_argument("--regex", action="store_true", help="TERMS is one regular expression")
    parser.add_argument("--case-sensitive", action="store_true", help="capitals count")
    parser.add_argument("--match-unit", type=one_of("record", "conversation"), default="record", help="where all the words must stand")
    parser.add_argument("--no-dedupe", action="store_true", help="show copies too")
    for name, what in _TEXTS.items():
        parser.add_argument(f"--{name}", metavar=name.upper(), default="", help=what)
    parser.add_argument("--run-depth", metavar="DEPTH", default="", help="only records of runs of this depth")
    parser.add_argument("--exclude-session", metavar="ID", default="", help="leave this session out")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print one object: summary and records")
    shown.add_argument("--ndjson", action="store_true", help="print one record a line, the summary last")


def search(args: argparse.Namespace) -> int:
    """Print what is found; the exit code tells found, not found, or not brought to the end."""
    from deepdelve.engine import facade

    result = facade.search_history(options(args), facade.load_settings())
    summary = result.summary
    if args.json:
        print_json(result.to_dict())
    elif args.ndjson:
        for record in result.records:
            print_json(record.to_dict())
        print_json({"summary": summary.to_dict()})
    else:
        print_text("\n\n".join(record_lines(record) for record in result.records))
        print(told(summary), file=sys.stderr)
    if summary.incomplete:
        return INCOMPLETE
    return 0 if result.records else NOTHING_FOUND


def options(args: argparse.Namespace) -> dict[str, Any]:
    """The flags as the engine takes them."""
    return {
        "terms": " ".join(args.terms),
        "surface": "cli",
        "deep": args.deep,
        "exhaustive": args.exhaustive,
        "scope": args.scope or "",
        "conversation_limit": args.conversation_limit,
        "limit": args.limit,
        "order": args.order,
        "kinds": tuple(part.strip() for part in (args.kinds or "").split(",") if part.strip()),
        "any_term": args.any,
        "regex": args.regex,
        "case_sensitive": args.case_sensitive,
        "match_unit": args.match_unit,
        "dedupe": not args.no_dedupe,
        "depth": args.run_depth,
        "exclude_session": args.exclude_session,
        **{name: getattr(args, name) for name in _TEXTS},
    }


def record_lines(record: "facade.HistoryRecord") -> str:
    """A record as a head line, the text around its first match, and its reference."""
    row = record.to_dict()
    where = f"  run {one_line(record.run_id, 60)}" if record.run_id else ""
    head = f"{(row['ts'] or 'no date')[:16].replace('T', ' ')}  {record.kind}{where}"
    title = f"  {one_line(record.title, 80)}" if record.title else ""
    return f"{head}{title}\n  {excerpt(record.text, record.span)}\n  {record.ref}"


def excerpt(text: str, span: tuple[int, int]) -> str:
    """One line of the text, from a little before the match on."""
    start = max(0, span[0] - _AROUND)
    return ("…" if start else "") + one_line(text[start : start + _WIDTH * 4], _WIDTH)


def told(summary: "facade.HistorySummary") -> str:
    """What the search says of itself, for a person."""
    coverage = summary.coverage
    passed = f", {summary.ruled_out} ruled out by the index" if summary.ruled_out else ""
    read = (
        f"{counted(summary.sources_read, 'source')} of {coverage.sources_planned} read{passed}, {counted(coverage.records_seen, 'record')}"
    )
    found = counted(summary.match_count, "record") + " found." if summary.match_count else ""
    lines = [f"{found} {_OUTCOMES.get(summary.outcome, '')}".strip() + f" ({summary.status.state}; {read})"]
    lines += [f"{note.severity}: {note.message}" + (f" ({note.count})" if note.count > 1 else "") for note in summary.diagnostics]
    lines += [f"next: {_LADDER[action.action_id]}" for action in summary.next_actions if action.action_id in _LADDER]
    return "\n".join(lines)


def add_open(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``open``."""
    parser.add_argument("ref", nargs="?", metavar="REF", help="a reference that 'deepdelve search' printed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def open_ref(args: argparse.Namespace) -> int:
    """Print what a reference leads to: record, claim, finding, passage, address."""
    if not args.ref:
        raise UsageError("No reference is given.", "'deepdelve search' prints one below each record.")
    from deepdelve.engine import facade

    found = facade.open_ref(args.ref, facade.load_settings())
    if args.json:
        print_json(found.to_dict())
    else:
        print_text(jump_text(found))
    return 0


def jump_text(found: "facade.Jump") -> str:
    """The way from a record to what carries it."""
    record, passage = found.record, found.passage
    shown = record.text if passage is None else excerpt(record.text, record.span)
    where = f" of run {record.run_id}" if record.run_id else ""
    parts = [f"{record.kind}{where}\n{shown}"]
    if found.claim_id:
        parts.append(f"claim {found.claim_id} ({found.claim_status})\n{found.claim}")
    if found.finding_id:
        parts.append(f"finding {found.finding_id}\n{found.finding}")
    if passage is not None:
        place = f", characters {passage.start}-{passage.end}" if passage.end else ""
        text = f"{passage.before}>>> {passage.text} <<<{passage.after}" if passage.end else passage.after
        parts.append(f"{passage.source_id}{place}: {passage.title}\n{text}\n{passage.url}")
    return "\n\n".join(parts)


def add_history(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``history``."""
    parser.add_argument("action", type=one_of("rebuild", "index"), metavar="ACTION", help="rebuild or index")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def history(args: argparse.Namespace) -> int:
    """Derive a lost prompt history, or bring the index up to date."""
    from dataclasses import asdict

    from deepdelve.engine import facade

    if args.action == "rebuild":
        made = facade.rebuild_history()
        line = f"{counted(made.added, 'prompt')} added from {counted(made.transcripts, 'conversation')}; {made.known} were there."
        if made.incomplete:
            line += f" {counted(made.incomplete, 'conversation')} could not be read whole."
    else:
        made = facade.index_history()
        if made is None:
            raise UsageError("Another process is bringing the index up to date.", "Wait for it.")
        unread = f"{made.unclean} left to be read each time"
        line = f"{made.indexed} indexed, {made.kept} unchanged, {made.removed} removed, {unread}; {made.size:,} bytes."
    if args.json:
        print_json(asdict(made))
    else:
        print_text(line)
    return 0
