"""``finish``, ``replay`` and ``bundle``: what can be made of a run that is kept."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from deepdelve.cli.output import print_text
from deepdelve.cli.parser import RUN_EXITS, run_of
from deepdelve.core.paths import given_path

if TYPE_CHECKING:
    from deepdelve.cli.surface import CliSurface
    from deepdelve.core.requests import RunResult

DIFFERENT = 4
REPLAY_EXITS = {**RUN_EXITS, DIFFERENT: "the replay differs from the recorded run, or failed"}


def add_finish(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``finish``."""
    _run_argument(parser)


def finish(args: argparse.Namespace) -> int:
    """Print an honest partial report, made by code from what the run has."""
    import asyncio

    from deepdelve.engine import facade

    run_id = facade.find_run(run_of(args.run))
    surface = _surface()
    result = asyncio.run(facade.finish(run_id, facade.load_settings(), surface))
    print_text(facade.read_report(run_id))
    return result.exit


def add_replay(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``replay``."""
    _run_argument(parser)


def replay(args: argparse.Namespace) -> int:
    """Replay a recorded run, and say whether it came out the same to the byte."""
    import asyncio

    from deepdelve.engine import facade

    run_id = facade.find_run(run_of(args.run))
    surface = _surface()

    async def replayed() -> "tuple[RunResult, list[str], Path]":
        handle, original = await facade.replay(run_id, surface)
        result = await handle.wait()
        return result, facade.differing(original, handle.dir), handle.dir

    result, different, folder = asyncio.run(replayed())
    code = result.exit
    if result.outcome == "failed":
        print(f"The replay in {folder} could not be carried to its end.", file=sys.stderr)
        return code or DIFFERENT
    if different:
        print(f"The replay in {folder} differs in: {', '.join(different)}.", file=sys.stderr)
        return code or DIFFERENT
    print_text(f"The replay in {folder} is the same to the byte.")
    return code


def add_bundle(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``bundle``."""
    _run_argument(parser)
    parser.add_argument("--to", metavar="PLACE", help="file or folder to write to; RUN.tar.gz in this folder by default")


def bundle(args: argparse.Namespace) -> int:
    """Pack a run and print where it is."""
    from deepdelve.engine import facade

    target = given_path(args.to) if args.to is not None else None
    print_text(str(facade.bundle(facade.find_run(run_of(args.run)), facade.load_settings(), target)))
    return 0


def _surface() -> "CliSurface":
    from deepdelve.cli.progress import Progress
    from deepdelve.cli.surface import CliSurface

    return CliSurface(Progress(sys.stderr), None, auto_approve=True)


def _run_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", metavar="RUN", help="a run's id, its beginning, or 'latest'")
