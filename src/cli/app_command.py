"""The bare command: opens the full-screen app, or lists what is kept."""

import argparse
import sys
from typing import TYPE_CHECKING

from deepdelve.cli.parser import add_model_arguments, model_flags, question_of
from deepdelve.cli.run_command import add_research_arguments
from deepdelve.core.errors import UsageError

if TYPE_CHECKING:
    from deepdelve.config import Settings

SUMMARY = "deep research on your own machine; without a command, opens the full-screen app"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the bare command."""
    parser.add_argument("-p", "--prompt", metavar="QUESTION", help="start with this question")
    parser.add_argument("--list-runs", action="store_true", help="list the runs and end")
    parser.add_argument("--list-sessions", action="store_true", help="list the sessions and end")
    parser.add_argument("--resume", metavar="ID", help="open this session again")
    parser.add_argument("--resume-run", metavar="RUN", help="take this run up again")
    add_model_arguments(parser)
    add_research_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Open the app; returns its exit code."""
    if args.list_runs or args.list_sessions:
        from deepdelve.cli.runs_command import list_runs, list_sessions

        return list_runs() if args.list_runs else list_sessions()
    prompt = question_of(args.prompt, "prompt") if args.prompt is not None else ""
    if not has_terminal():
        raise UsageError("The app needs a terminal.", 'Without one: deepdelve run "QUESTION"')
    from deepdelve.tui import app

    run_id = _run_id(args.resume_run)
    # A file that was named is looked at before the screen changes; the user's own is read behind the first frame.
    settings = _settings(args) if args.config is not None else lambda: _settings(args)
    return app.run(settings, prompt=prompt, resume_session=args.resume or "", resume_run=run_id)


def _run_id(name: str | None) -> str:
    if name is None:
        return ""
    from deepdelve.engine import facade

    return facade.find_run(name)


def _settings(args: argparse.Namespace) -> "Settings":
    from deepdelve.cli.conduct import settings_for

    return settings_for(args, _flags(args))


def has_terminal() -> bool:
    """Whether a person sits at both ends."""
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def _flags(args: argparse.Namespace) -> dict[str, object]:
    return {
        **model_flags(args),
        "settings.report_style": args.style,
        "settings.depth": args.depth,
        "search.backend": args.search,
        "search.scope": args.scope,
        "search.corpus": args.corpus or None,
    }
