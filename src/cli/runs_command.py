"""``deepdelve runs``: the runs and sessions that are kept, newest first."""

import argparse
import sys
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from deepdelve.cli.output import print_json, print_text
from deepdelve.cli.parser import count
from deepdelve.cli.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepdelve.core.requests import RunSummary, SessionSummary

LIMIT = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of ``runs``."""
    parser.add_argument("--limit", type=count, default=LIMIT, metavar="N", help=f"how many (default {LIMIT})")
    parser.add_argument("--json", action="store_true", help="print one JSON list")


def main(args: argparse.Namespace) -> int:
    """List the runs."""
    return list_runs(args.limit, as_json=args.json)


def list_runs(limit: int = LIMIT, *, as_json: bool = False) -> int:
    """Print the newest runs."""
    from deepdelve.engine import facade

    runs = facade.list_runs(limit)
    if as_json:
        print_json([asdict(run) for run in runs])
    elif runs:
        print_text("\n".join(run_line(run) for run in runs))
        offer_to_resume([run for run in runs if not run.outcome and not run.live])
    else:
        print('There are no runs yet. Start one: deepdelve run "QUESTION"', file=sys.stderr)
    if not as_json:
        point_to_vault_runs(facade.count_vault_runs())
    return 0


def point_to_vault_runs(number: int) -> None:
    """Say on stderr where the bounded runs are, which have a ledger of their own."""
    if number:
        print(f"{counted(number, 'bounded vault run')} beside these: deepdelve vault runs", file=sys.stderr)


def list_sessions(limit: int = LIMIT) -> int:
    """Print the newest sessions."""
    from deepdelve.engine import facade

    sessions = facade.list_sessions(limit)
    if sessions:
        print_text("\n".join(session_line(session) for session in sessions))
    else:
        print("There are no sessions yet. 'deepdelve' opens the app.", file=sys.stderr)
    return 0


def offer_to_resume(broken: "Sequence[RunSummary]") -> None:
    """Say on stderr how the newest of the runs that broke off is taken up again."""
    if broken:
        what = "A run was interrupted" if len(broken) == 1 else f"{len(broken)} runs were interrupted"
        print(f"{what}; go on with: deepdelve run --resume-run {one_line(broken[0].run_id, 60)}", file=sys.stderr)


def run_line(run: "RunSummary") -> str:
    """A run as one line of words."""
    outcome = "running" if run.live else run.outcome.replace("_", " ") or "interrupted"
    carried = f"{run.supported} of {counted(run.claims, 'claim')} supported"
    return f"{run.run_id}  {_day(run.started)}  {outcome:<11}  {counted(run.sources, 'source')}, {carried}  {one_line(run.question, 100)}"


def session_line(session: "SessionSummary") -> str:
    """A session as one line of words."""
    size = f"{counted(session.turns, 'turn')}, {counted(len(session.runs), 'run')}"
    return f"{one_line(session.session_id, 60)}  {_day(session.started)}  {size}  {one_line(session.title, 100)}"


def _day(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M}"
