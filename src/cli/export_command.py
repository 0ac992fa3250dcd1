"""``deepdelve export``: a run's report as other files."""

import argparse
import sys
from typing import TYPE_CHECKING

from deepdelve.cli.output import print_json, print_text
from deepdelve.cli.parser import run_of
from deepdelve.cli.text import one_line
from deepdelve.core.errors import DeepDelveError, UsageError

if TYPE_CHECKING:
    from deepdelve.engine.facade import Exported


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of ``export``."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="a run's id, its beginning, or 'latest'")
    parser.add_argument(
        "--to",
        nargs="+",
        action="extend",
        default=[],
        metavar="FORMAT|FILE",
        help="md, html, pdf, docx, bib, ris or csl, for RUN.<format> in this folder; or a file that ends in one; several at once",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON list of what was written")


def main(args: argparse.Namespace) -> int:
    """Write each file that is asked for; one that fails does not keep the others from being written.

    Returns:
        0, or the exit code of the first that failed.
    """
    from deepdelve.engine import facade

    run_id = facade.find_run(run_of(args.run))
    if not args.to:
        raise UsageError("No format is named.", "For example: deepdelve export latest --to html pdf")
    written: list[Exported] = []
    failed: list[DeepDelveError] = []
    for wanted in args.to:
        try:
            written.append(facade.export(run_id, wanted))
        except DeepDelveError as error:
            failed.append(error)
    _tell(written, failed, as_json=args.json)
    return failed[0].exit_code if failed else 0


def _tell(written: "list[Exported]", failed: list[DeepDelveError], *, as_json: bool) -> None:
    if as_json:
        print_json([{"file": str(item.path), "format": item.format, "note": item.note} for item in written])
    else:
        for item in written:
            print_text(str(item.path))
    for line in [*(item.note for item in written if item.note), *(error.line() for error in failed)]:
        print("deepdelve: " + one_line(line, 2_000), file=sys.stderr)
