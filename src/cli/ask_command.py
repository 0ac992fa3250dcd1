"""``deepdelve ask``: a question on a finished run, answered from its report and sources."""

import argparse
from typing import TYPE_CHECKING

from deepdelve.cli.parser import add_model_arguments, add_output_arguments, model_flags, question_of, run_of
from deepdelve.cli.text import one_line
from deepdelve.core.errors import UsageError

if TYPE_CHECKING:
    from deepdelve.cli.surface import CliSurface
    from deepdelve.config import Settings
    from deepdelve.core.requests import RunHandle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of ``ask``."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="a run's id, its beginning, or 'latest'")
    parser.add_argument("question", nargs="?", metavar="QUESTION", help="what you want to know, in quotation marks")
    add_model_arguments(parser)
    add_output_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Answer on stdout; the exit code tells the outcome."""
    run = run_of(args.run)
    if args.question is None and len(run.split()) > 1:
        raise UsageError("No run is named, only a question.", f'For the newest run: deepdelve ask latest "{one_line(run, 200)}"')
    question = question_of(args.question)
    from deepdelve.cli.conduct import conduct

    async def start(settings: "Settings", surface: "CliSurface") -> "RunHandle":
        from deepdelve.engine import facade

        return await facade.ask(facade.find_run(run), question, settings, surface)

    return conduct(args, start, flags=model_flags(args), answer=True)
