"""``deepdelve run``: a question becomes a cited report on stdout."""

import argparse
from typing import TYPE_CHECKING

from deepdelve.cli.parser import add_model_arguments, add_output_arguments, minutes, model_flags, one_of, question_of, run_of
from deepdelve.core.errors import UsageError

if TYPE_CHECKING:
    from deepdelve.cli.surface import CliSurface
    from deepdelve.config import Settings
    from deepdelve.core.requests import RunHandle, RunRequest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of ``run``."""
    parser.add_argument("question", nargs="?", metavar="QUESTION", help="what you want to know, in quotation marks")
    add_model_arguments(parser)
    add_research_arguments(parser)
    parser.add_argument("--seed-doc", action="append", default=[], metavar="FILE", help="a document to read in any case (repeatable)")
    parser.add_argument("--seed-url", action="append", default=[], metavar="URL", help="a page to fetch in any case (repeatable)")
    parser.add_argument("--pipeline-evidence", metavar="DIR", help="write from this evidence bundle alone; nothing is searched or fetched")
    parser.add_argument("--max-minutes", type=minutes, metavar="N", help="hard end of the run")
    parser.add_argument("--auto-approve", action="store_true", help="answer every approval with yes")
    parser.add_argument(
        "--record", action="store_true", help="keep every outside answer, so that 'deepdelve replay' can run it again offline"
    )
    parser.add_argument("--resume-run", metavar="RUN", help="take this run up again instead of asking a new question")
    add_output_arguments(parser)


def add_research_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags that say where and how thoroughly to look, and in which style to write."""
    parser.add_argument("--search", metavar="NAME", help="search engine (settings: search.backend)")
    parser.add_argument("--scope", type=one_of("auto", "web", "corpus", "both"), metavar="SCOPE", help="auto, web, corpus or both")
    parser.add_argument("--corpus", action="append", default=[], metavar="DIR", help="folder or file to search (repeatable)")
    parser.add_argument("--depth", type=one_of("quick", "standard", "deep"), metavar="DEPTH", help="quick, standard or deep")
    parser.add_argument("--style", type=one_of("standard", "academic", "answer"), metavar="STYLE", help="standard, academic or answer")


def main(args: argparse.Namespace) -> int:
    """Research and print; the exit code tells the outcome."""
    if args.resume_run is not None:
        return _resume(args)
    question = question_of(args.question)
    from deepdelve.cli.conduct import conduct

    async def start(settings: "Settings", surface: "CliSurface") -> "RunHandle":
        from deepdelve.cli.runs_command import offer_to_resume
        from deepdelve.engine import facade

        offer_to_resume(facade.interrupted_runs())
        return await facade.start(_request(args, question), settings, surface)

    return conduct(args, start, flags={})


def _resume(args: argparse.Namespace) -> int:
    if args.question is not None:
        raise UsageError("--resume-run takes no question.", "The run has its own; 'deepdelve ask RUN' puts another one.")
    if args.pipeline_evidence is not None:
        raise UsageError("--resume-run takes no --pipeline-evidence.", "A resumed run keeps the evidence that it was started with.")
    changed = [flag for flag, given in _fixed_at_the_start(args) if given]
    if changed:
        raise UsageError(f"--resume-run takes no {changed[0]}.", "A resumed run keeps what it was started with.")
    run = run_of(args.resume_run)
    from deepdelve.cli.conduct import conduct

    async def resume(settings: "Settings", surface: "CliSurface") -> "RunHandle":
        from deepdelve.engine import facade

        return await facade.resume(facade.find_run(run), settings, surface)

    return conduct(args, resume, flags={**model_flags(args), "settings.max_run_minutes": args.max_minutes})


def _fixed_at_the_start(args: argparse.Namespace) -> list[tuple[str, object]]:
    names = ("search", "scope", "corpus", "depth", "style", "seed_doc", "seed_url", "record")
    return [("--" + name.replace("_", "-"), getattr(args, name)) for name in names]


def _request(args: argparse.Namespace, question: str) -> "RunRequest":
    from deepdelve.core.requests import RunRequest

    return RunRequest(
        question=question,
        style=args.style,
        depth=args.depth,
        backend=args.backend or "",
        model=args.model or "",
        base_url=args.base_url or "",
        search=args.search or "",
        corpus=tuple(args.corpus),
        scope=args.scope or "",
        seed_docs=tuple(args.seed_doc),
        seed_urls=tuple(args.seed_url),
        evidence_dir=args.pipeline_evidence or "",
        max_minutes=args.max_minutes,
        auto_approve=args.auto_approve,
        record=args.record,
        surface="cli",
    )
