"""What ``run`` and ``ask`` share: settings, surface, the wait for the end, and what is printed."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from deepdelve.cli.drive import INTERRUPTED, StopSignals, outcome_of
from deepdelve.cli.logs import start_logging
from deepdelve.cli.output import print_json, print_text, result_object
from deepdelve.cli.progress import Progress
from deepdelve.cli.surface import CliSurface, EventsFile
from deepdelve.config import Settings
from deepdelve.core.paths import given_path
from deepdelve.core.requests import RunHandle, RunResult

Start = Callable[[Settings, CliSurface], Awaitable[RunHandle]]


def conduct(args: argparse.Namespace, start: Start, flags: Mapping[str, Any], *, answer: bool = False) -> int:
    """Start something, follow it to its end on stderr, print its result on stdout.

    Args:
        args: the flags ``config``, ``json``, ``events`` and, where there is one, ``auto_approve``.
        start: starts it on the running loop.
        flags: settings that flags change, by dotted key.
        answer: print the answer to a follow-up, not the report.

    Returns:
        the exit code.
    """
    progress = Progress(sys.stderr)
    with StopSignals() as signals:
        settings = settings_for(args, flags)
        events = EventsFile(args.events) if args.events else None
        surface = CliSurface(progress, events, auto_approve=getattr(args, "auto_approve", False))
        try:
            result = asyncio.run(_conducted(start, settings, surface, signals))
        except asyncio.CancelledError:
            # Stopped while it was still being set up: there is no run yet that could tell its end.
            return INTERRUPTED
        finally:
            surface.close()
        # A folder that was moved or deleted under the run has been told of already: there is nothing to point to or to print.
        gone = result.outcome == "failed" and not Path(result.dir).is_dir()
        if not gone:
            progress.say(f"Everything is kept in {result.dir}")
        if args.json or not gone:
            _print(result, as_json=args.json, answer=answer)
        return result.exit


def settings_for(args: argparse.Namespace, flags: Mapping[str, Any]) -> Settings:
    """The settings in force, with the log file taken into use.

    Raises:
        ConfigError: a settings file, variable or flag is wrong.
    """
    from deepdelve.engine import facade

    settings = facade.load_settings(given_path(args.config) if args.config is not None else None, dict(flags))
    start_logging(facade.masker(settings))
    return settings


async def _conducted(start: Start, settings: Settings, surface: CliSurface, signals: StopSignals) -> RunResult:
    preparing = asyncio.current_task()
    assert preparing is not None
    signals.bind(asyncio.get_running_loop(), preparing.cancel)
    handle = await start(settings, surface)
    return await outcome_of(handle, signals, surface.progress.say)


def _print(result: RunResult, *, as_json: bool, answer: bool) -> None:
    if as_json:
        shown = result_object(result)
        print_json({**shown, "answer": result.answer} if answer else shown)
    elif answer and result.answer:
        print_text(result.answer)
    else:
        from deepdelve.engine import facade

        print_text(facade.read_report(result.run_id))
