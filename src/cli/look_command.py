"""``doctor``, ``fetch`` and ``search-health``: looking at what a run would meet, without one."""

import argparse
from typing import Any

from deepdelve.cli.output import print_json, print_text
from deepdelve.cli.parser import add_model_arguments, exits, model_flags
from deepdelve.cli.text import one_line
from deepdelve.core.errors import UsageError

ILL = 4
DOCTOR_EXITS = exits({0: "all is well", ILL: "something that a run needs is missing; its line says what mends it"})
FETCH_EXITS = exits({0: "read", ILL: "could not be read; one line says why"})
HEALTH_EXITS = exits({0: "at least one engine answers", ILL: "no engine answers"})


def add_doctor(parser: argparse.ArgumentParser) -> None:
    """The flags of ``doctor``."""
    add_model_arguments(parser)
    parser.add_argument("--quick", action="store_true", help="leave out what takes a while on a slow machine")
    parser.add_argument("--json", action="store_true", help="print one JSON list")


def doctor(args: argparse.Namespace) -> int:
    """Print each thing looked at, and the command that mends it."""
    import asyncio
    from dataclasses import asdict

    from deepdelve.cli.conduct import settings_for
    from deepdelve.engine import facade

    settings = settings_for(args, model_flags(args))
    rows = asyncio.run(facade.doctor(settings, thorough=not args.quick))
    if args.json:
        print_json([asdict(row) for row in rows])
    else:
        print_text("\n".join(_line(row.name, row.ok, row.detail, row.fix) for row in rows))
    return 0 if all(row.ok for row in rows) else ILL


def add_fetch(parser: argparse.ArgumentParser) -> None:
    """The flags of ``fetch``."""
    parser.add_argument("where", nargs="?", metavar="URL|FILE", help="an address, or a local file")
    parser.add_argument("--config", metavar="FILE", help="a settings file instead of your own")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def fetch(args: argparse.Namespace) -> int:
    """Print what agents would read, below where it came from."""
    if not (args.where or "").strip():
        raise UsageError("There is nothing to fetch.", "Give an address or a file.")
    import asyncio
    from dataclasses import asdict

    from deepdelve.cli.conduct import settings_for
    from deepdelve.engine import facade

    page = asyncio.run(facade.fetch(args.where, settings_for(args, {})))
    facts: dict[str, Any] = {key: value for key, value in asdict(page).items() if key not in {"text", "original", "links"} and value}
    if args.json:
        print_json({**facts, "text": page.text, "links": list(page.links)})
    else:
        head = "\n".join(f"{key}: {one_line(str(value), 300)}" for key, value in facts.items())
        print_text(f"{head}\n\n{page.text}")
    return 0 if page.state == "ok" else ILL


def add_search_health(parser: argparse.ArgumentParser) -> None:
    """The flags of ``search-health``."""
    parser.add_argument("--config", metavar="FILE", help="a settings file instead of your own")
    parser.add_argument("--json", action="store_true", help="print one JSON list")


def search_health(args: argparse.Namespace) -> int:
    """Print how each engine stands."""
    import asyncio
    from dataclasses import asdict

    from deepdelve.cli.conduct import settings_for
    from deepdelve.engine import facade

    rows = asyncio.run(facade.search_health(settings_for(args, {})))
    if args.json:
        print_json([asdict(row) for row in rows])
    else:
        print_text(
            "\n".join(_line(row.name, row.outcome in {"ok", "empty"}, f"{row.outcome.replace('_', ' ')}. {row.detail}", "") for row in rows)
        )
    return 0 if any(row.outcome in {"ok", "empty"} for row in rows) else ILL


def _line(name: str, ok: bool, detail: str, fix: str) -> str:
    mend = f"\n      {one_line(fix, 300)}" if fix and not ok else ""
    return f"{'ok ' if ok else 'BAD'}   {one_line(name, 40)}: {one_line(detail, 400)}{mend}"
