"""``deepdelve show``: what a run has left, on stdout."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from deepdelve.cli.output import print_json, print_text
from deepdelve.cli.parser import exits, run_of
from deepdelve.cli.text import one_line
from deepdelve.core.errors import UsageError
from deepdelve.core.paths import given_path

if TYPE_CHECKING:
    from deepdelve.core.records import Claim, Finding, Source

NO_REPORT = 4
EXITS = exits({NO_REPORT: "the run has no report"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of ``show``."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="a run's id, its beginning, or 'latest'")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--sources", action="store_true", help="the sources instead of the report")
    part.add_argument("--findings", action="store_true", help="the findings instead of the report")
    part.add_argument("--claims", action="store_true", help="the claim ledger: each claim with its status and passage")
    part.add_argument("--usage", action="store_true", help="tokens, calls and time, in all, by role and by step")
    part.add_argument("--events", action="store_true", help="every event, one JSON object a line")
    part.add_argument("--export-evidence", metavar="DIR", help="write the run's evidence into this folder, for --pipeline-evidence")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def main(args: argparse.Namespace) -> int:
    """Print the part of the run that is asked for."""
    from deepdelve.engine import facade

    run_id = facade.find_run(run_of(args.run))
    if args.events:
        for event in facade.load_events(run_id):
            print_text(event.model_dump_json())
        return 0
    if args.export_evidence is not None:
        return _export(run_id, args.export_evidence)
    if args.sources:
        return _print_records(facade.sources(run_id), source_line, "sources", as_json=args.json)
    if args.claims:
        return _print_records(facade.claims(run_id), claim_lines, "claims", as_json=args.json)
    if args.usage:
        return _print_usage(facade.usage_summary(run_id, facade.load_settings()), as_json=args.json)
    if args.findings:
        return _print_records(facade.findings(run_id), finding_lines, "findings", as_json=args.json)
    return _print_report(run_id, facade.read_report(run_id), as_json=args.json)


def _export(run_id: str, target: str) -> int:
    from deepdelve.engine import facade

    if not target.strip():
        raise UsageError("--export-evidence names no folder.", "Give a folder to be made.")
    lines = facade.export_evidence(run_id, given_path(target))
    print_text(f"{lines} {'line' if lines == 1 else 'lines'} of evidence in {target}")
    return 0


def source_line(source: "Source") -> str:
    """A source as one line of words."""
    state = "" if source.state == "ok" else f"  [{source.state}: {one_line(source.reason, 80) or 'no reason given'}]"
    return f"{source.id:<4} {one_line(source.title, 90) or '(no title)'}  {one_line(source.final_url or source.url, 300)}{state}"


def finding_lines(finding: "Finding") -> str:
    """A finding's claims with their quotes, a lead as what it is."""
    if finding.kind == "lead":
        return f"{finding.id:<4} lead: {one_line(finding.summary, 300)}"
    doubts = f"  [{', '.join(flag.kind for flag in finding.flags)}]" if finding.flags else ""
    head = f"{finding.id:<4} {finding.source_id}  {one_line(finding.task, 90)}{doubts}"
    body = [f"     - {one_line(c.text, 400)}" + (f'\n       "{one_line(c.quote, 400)}"' if c.quote else "") for c in finding.claims]
    return "\n".join([head, *body])


def claim_lines(claim: "Claim") -> str:
    """A claim with its status, its sources, the reason, and the passage that carries it."""
    cited = f" [{', '.join(claim.citations)}]" if claim.citations else ""
    head = f"{claim.id:<5} {claim.status if claim.needs_citation else 'needs no source':<12} {one_line(claim.text, 400)}{cited}"
    why = f"\n      {one_line(claim.reason, 300)}" if claim.reason else ""
    passage = claim.passage
    if passage is None or not passage.quote:
        return head + why
    return f'{head}{why}\n      {passage.file or passage.source_id}, {passage.start}-{passage.end}: "{one_line(passage.quote, 400)}"'


def _print_usage(usage: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        print_json(usage)
        return 0
    guessed = " (estimated)" if usage["estimated"] else ""
    cost = f", cost {usage['cost']}" if "cost" in usage else ""
    if usage.get("unpriced"):
        cost += f" (without {one_line(', '.join(usage['unpriced']), 120)}: no price is set)"
    steps = {name.replace("_", " "): row for name, row in usage["steps"].items()}
    several: dict[str, Any] = usage["models"] if len(usage["models"]) > 1 else {}
    lines = [f"In all: {usage['calls']} model calls, {usage['tokens_in']} tokens in, {usage['tokens_out']} out{guessed}{cost}"]
    for title, rows in (("By role", usage["roles"]), ("By step", steps), ("By model", several)):
        lines += [f"{title}:"] * bool(rows) + [_usage_line(name, row) for name, row in rows.items()]
    print_text("\n".join(lines))
    return 0


def _usage_line(name: str, row: dict[str, Any]) -> str:
    cost = f", cost {row['cost']}" if "cost" in row else ""
    return f"  {one_line(name, 80)}: {row['calls']} calls, {row['tokens_in']} in, {row['tokens_out']} out, {row['seconds']:.1f} s{cost}"


def _print_records(records: Any, line: Any, what: str, *, as_json: bool) -> int:
    if as_json:
        print_json([record.model_dump(mode="json") for record in records])
    elif records:
        print_text("\n".join(line(record) for record in records))
    else:
        print(f"The run has no {what}.", file=sys.stderr)
    return 0


def _print_report(run_id: str, report: str, *, as_json: bool) -> int:
    if as_json:
        print_json({"run_id": run_id, "report": report})
    elif report:
        print_text(report)
    if not report:
        print(f"Run {run_id} has no report. 'deepdelve run --resume-run {run_id}' takes it up again.", file=sys.stderr)
        return NO_REPORT
    return 0
