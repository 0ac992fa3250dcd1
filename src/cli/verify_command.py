"""``deepdelve verify``: any report, by any system, against its sources."""

import argparse
import contextlib
from collections import Counter
from typing import TYPE_CHECKING

from deepdelve.cli.output import print_json, print_text
from deepdelve.cli.parser import exits, share
from deepdelve.cli.text import one_line
from deepdelve.core.errors import RunNotFoundError, UsageError
from deepdelve.core.paths import given_path

if TYPE_CHECKING:
    from deepdelve.engine import facade

UNDER_THE_FLOOR = 5
EXITS = exits({UNDER_THE_FLOOR: "with --fail-under: fewer claims are supported than that"})
MAX_LINES = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of ``verify``."""
    parser.add_argument(
        "report",
        nargs="?",
        metavar="REPORT",
        help="a report as Markdown or text, - for a pipe; a run, such as latest, or left out with --run: the run's own",
    )
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--sources", metavar="DIR", help="the folder with the texts of its sources")
    given.add_argument("--run", metavar="RUN", help="a run whose stored sources are used")
    parser.add_argument("--fail-under", type=share, metavar="X", help="exit 5 if fewer than this share of the claims is supported (0 to 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def main(args: argparse.Namespace) -> int:
    """Print the result; the exit code tells whether the floor is held."""
    if not args.report and args.run is None:
        raise UsageError("There is no report to verify.", "Give a file, for example: deepdelve verify report.md --sources sources/")
    from deepdelve.engine import facade

    given: str = args.report or ""
    report = given_path(given) if given else None
    sources = given_path(args.sources) if args.sources is not None else None
    run_id = facade.find_run(args.run) if args.run is not None else ""
    if report is not None and sources is None and not run_id and not report.exists():
        with contextlib.suppress(RunNotFoundError):
            run_id = facade.find_run(given)
            report = None
    result = facade.verify(report, sources=sources, run_id=run_id)
    if args.json:
        print_json(result.to_dict())
    else:
        print_text(table(result))
    return UNDER_THE_FLOOR if args.fail_under is not None and result.share < args.fail_under else 0


def table(result: "facade.VerifyResult") -> str:
    """The result as lines of words: counts, each claim that is not carried, problems, and what could not be checked."""
    counts = result.counts
    lines = [
        f"{counts.supported} of {counts.total} claims supported, {counts.partial} partly, {counts.unsupported} not, "
        f"{counts.contradicted} contradicted, {counts.unchecked} could not be checked"
    ]
    open_claims = [claim for claim in result.claims if claim.needs_citation and claim.status != "supported"]
    for claim in open_claims[:MAX_LINES]:
        cited = f" [{', '.join(claim.citations)}]" if claim.citations else ""
        lines.append(f"{claim.status:<12} {one_line(claim.text, 300)}{cited}")
        if claim.reason:
            lines.append(f"{'':<12} {one_line(claim.reason, 300)}")
    if len(open_claims) > MAX_LINES:
        lines.append(f"and {len(open_claims) - MAX_LINES} more; --json lists all")
    problems = Counter(f"problem      {problem.kind.replace('_', ' ')}: {one_line(problem.detail, 300)}" for problem in result.problems)
    lines += [f"{line} ({times} times)" if times > 1 else line for line, times in list(problems.items())[:MAX_LINES]]
    if len(problems) > MAX_LINES:
        lines.append(f"and {len(problems) - MAX_LINES} more problems; --json lists all")
    lines += [f"conflict     {one_line(conflict, 300)}" for conflict in result.conflicts]
    lines += [f"not read     {one_line(label, 120)}: {one_line(reason, 200)}" for label, reason in result.unread[:MAX_LINES]]
    if len(result.unread) > MAX_LINES:
        lines.append(f"and {len(result.unread) - MAX_LINES} more that were not read; --json lists all")
    lines += [f"note         {one_line(note, 300)}" for note in result.notes]
    return "\n".join(lines)
