"""``deepdelve vault``: bounded research into an Obsidian vault, and what keeps the vault sound."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdelve.cli.output import print_json, print_text
from deepdelve.cli.parser import add_model_arguments, count, exits, model_flags, nearest, question_of
from deepdelve.cli.text import counted, one_line
from deepdelve.core.errors import UsageError

if TYPE_CHECKING:
    from deepdelve.config import Settings

ILL = 3
FAILED = 4
EXITS = exits(
    {0: "done, and all is well", ILL: "no page was written, or something needs a look; it says what", FAILED: "failed; one line says why"}
)
ACTIONS = ("research", "runs", "show", "ingest", "add", "check", "lint", "verify")
_WHAT = {
    "research": "TOPIC: search, assess and write one page into the vault",
    "runs": "list the bounded runs",
    "show": "RUN: a bounded run with its queries and sources",
    "ingest": "RUN: send the note of a bounded run through the seam again",
    "add": "RUN: let the report of any finished run into the vault",
    "check": "look at SearXNG, ledger, vault and model",
    "lint": "broken links, pages without sources and what else is wrong",
    "verify": "check every page against the kept texts of its sources",
}
_TAKES = {
    "research": ("words", "vault", "max_iter", "token_budget", "query"),
    "runs": (),
    "show": ("words",),
    "ingest": ("words",),
    "add": ("words", "vault"),
    "check": ("vault",),
    "lint": ("vault",),
    "verify": ("vault",),
}
_MAX_LINES = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of ``vault``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("action", nargs="?", metavar="ACTION", help="; ".join(f"{name} {what}" for name, what in _WHAT.items()))
    parser.add_argument("words", nargs="?", metavar="TOPIC|RUN", help="the topic in quotation marks, or a run")
    parser.add_argument("--vault", metavar="DIR", help="a vault other than that of the settings")
    parser.add_argument("--max-iter", type=count, metavar="N", help="rounds at most, 1 to 10")
    parser.add_argument("--token-budget", type=count, metavar="N", help="tokens after which no further round begins")
    parser.add_argument("--query", action="append", metavar="Q", help="search this in the first round; may be repeated")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_model_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Carry out the action; the exit code says whether all is well."""
    action = args.action or ""
    handler = _HANDLERS.get(action)
    if handler is None:
        near = nearest(action, ACTIONS) if action else ""
        hint = f"Did you mean 'deepdelve vault {near}'?" if near else "There are: " + ", ".join(ACTIONS) + "."
        raise UsageError(f"There is no action '{one_line(action, 40)}'." if action else "No action is given.", hint)
    _refuse_what_would_be_lost(args, action)
    from deepdelve.cli.conduct import settings_for

    return handler(args, settings_for(args, model_flags(args)))


def _refuse_what_would_be_lost(args: argparse.Namespace, action: str) -> None:
    for name in _TAKES["research"]:
        if name in _TAKES[action] or getattr(args, name) is None:
            continue
        given = "topic or run" if name == "words" else "--" + name.replace("_", "-")
        takers = [f"deepdelve vault {other}" for other, taken in _TAKES.items() if name in taken]
        raise UsageError(f"vault {action} takes no {given}.", f"It belongs to: {', '.join(takers)}.")


def _folder(args: argparse.Namespace) -> Path | None:
    if args.vault is not None and not args.vault.strip():
        raise UsageError("The folder of the vault is empty.", "Give --vault a folder.")
    return Path(args.vault).expanduser() if args.vault is not None else None


def _research(args: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    from deepdelve.cli.drive import INTERRUPTED, StopSignals

    topic = question_of(args.words, "topic")
    if args.query:
        from deepdelve.engine import facade

        facade.vaults().check_queries(args.query, settings)
    with StopSignals() as signals:
        try:
            row = asyncio.run(_researched(args, settings, topic, signals))
        except asyncio.CancelledError:
            return INTERRUPTED
    if args.json:
        print_json(row)
    else:
        print_text(_ended(row))
    return _exit_code(row)


async def _researched(args: argparse.Namespace, settings: "Settings", topic: str, signals: Any) -> dict[str, Any]:
    import asyncio

    from deepdelve.engine import facade

    going = asyncio.current_task()
    assert going is not None
    signals.bind(asyncio.get_running_loop(), going.cancel)
    service = await asyncio.to_thread(facade.vaults().service, settings)
    try:
        vault = facade.vaults().vault_of(settings, folder=_folder(args))
        run_id = await service.start(
            topic,
            vault=vault,
            max_iter=args.max_iter,
            token_budget=args.token_budget,
            queries=args.query or (),
            listener=_progress,
        )
        await service.settled(run_id)
        row = await asyncio.to_thread(service.detail, run_id, include_content=False)
        return {**row, "vault": str(vault.root)}
    finally:
        await service.close()


def _progress(event: dict[str, Any]) -> None:
    from deepdelve.engine import facade

    if line := facade.vaults().line(event):
        print(one_line(line, 300), file=sys.stderr, flush=True)


def _exit_code(row: dict[str, Any]) -> int:
    if row["status"] == "cancelled":
        return 130
    if row["status"] == "error":
        return FAILED
    return 0 if row["synthesis_page_id"] else ILL


def _ended(row: dict[str, Any]) -> str:
    lines = [f"status: {row['status'].replace('_', ' ')}" + (f" ({row['stop_detail'].replace('_', ' ')})" if row["stop_detail"] else "")]
    lines.append(f"run: {row['id']}")
    lines.append(f"rounds: {row['rounds_completed']} of {row['max_iter']}, {counted(row['sources_usable'], 'usable source')}")
    lines.append(
        f"tokens: {row['tokens_in'] + row['tokens_out']} of {row['token_budget']}{' (estimated)' if row['usage_estimated'] else ''}"
    )
    if row["page"]:
        lines.append(f"page: {row['vault']}/{row['page']}")
    if row["ingest_status"] and row["ingest_status"] != "completed":
        lines.append(f"ingest: {row['ingest_status']}")
    if row["error_message"]:
        lines.append(f"error: {row['error_message']}")
    return "\n".join(lines)


def _runs(args: argparse.Namespace, settings: "Settings") -> int:
    def look(service: Any) -> dict[str, Any]:
        return service.page_of_runs("", 100, 0)

    found = _with_service(settings, look)
    if args.json:
        print_json(found)
        return 0
    rows = [
        f"{row['id']}  {row['started_at'][:16].replace('T', ' ')}  {row['status'].replace('_', ' '):<16}  {one_line(row['topic'], 80)}"
        for row in found["items"]
    ]
    print_text("\n".join(rows) or "There is no bounded run yet.")
    return 0


def _show(args: argparse.Namespace, settings: "Settings") -> int:
    run_id = _run_of(args)
    found = _with_service(settings, lambda service: service.detail(service.resolve(run_id), include_content=False))
    if args.json:
        print_json(found)
        return 0
    lines = [
        f"{key}: {one_line(str(value), 300)}"
        for key, value in found.items()
        if not isinstance(value, list | dict) and value not in {None, ""}
    ]
    lines += [f"query  {query['class']:<14} {query['hits']:>3}  {one_line(query['query'], 200)}" for query in found["queries"]]
    lines += [_source_line(source) for source in found["sources"]]
    print_text("\n".join(lines))
    return 0


def _source_line(source: dict[str, Any]) -> str:
    state = "cited" if source["cited"] else source["outcome"][:14]
    return f"source {state:<14} {one_line(source['title'] or '', 60)}  {one_line(source['url'], 200)}"


def _ingest(args: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    from deepdelve.engine import facade

    run_id = _run_of(args)

    async def again() -> Any:
        service = await asyncio.to_thread(facade.vaults().service, settings)
        try:
            return await service.ingest(await asyncio.to_thread(service.resolve, run_id))
        finally:
            await service.close()

    return _told_ingest(args, asyncio.run(again()))


def _add(args: argparse.Namespace, settings: "Settings") -> int:
    from deepdelve.engine import facade

    result = facade.vaults().add(facade.find_run(_run_of(args)), settings, _folder(args))
    return _told_ingest(args, result)


def _told_ingest(args: argparse.Namespace, result: Any) -> int:
    if args.json:
        print_json({"page_id": result.page_id, "status": result.status, "reason": result.reason, "page": result.path})
    else:
        print_text(f"{result.status}{': ' + result.reason if result.reason else ''}\npage: {result.path}")
    return 0 if result.status == "completed" or not result.reason.startswith("conflict") else ILL


def _check(args: argparse.Namespace, settings: "Settings") -> int:
    import asyncio
    from dataclasses import asdict

    from deepdelve.engine import facade

    rows = asyncio.run(facade.vaults().check(settings, _folder(args)))
    if args.json:
        print_json([asdict(row) for row in rows])
    else:
        print_text("\n".join(_line(row) for row in rows))
    return 0 if all(row.ok for row in rows) else FAILED


def _line(row: Any) -> str:
    mend = f"\n      {one_line(row.fix, 300)}" if row.fix and not row.ok else ""
    return f"{'ok ' if row.ok else 'BAD'}   {one_line(row.name, 40)}: {one_line(row.detail, 400)}{mend}"


def _lint(args: argparse.Namespace, settings: "Settings") -> int:
    from dataclasses import asdict

    from deepdelve.engine import facade

    report = facade.vaults().lint(settings, _folder(args))
    if args.json:
        print_json({**asdict(report), "counts": dict(report.counts)})
        return ILL if report.problems else 0
    lines = [f"{counted(report.pages, 'page')}, {counted(report.links, 'link')}, {counted(len(report.problems), 'problem')}"]
    for problem in report.problems[:_MAX_LINES]:
        meant = f" Did you mean [[{one_line(problem.suggestion, 80)}]]?" if problem.suggestion else ""
        lines.append(f"{problem.kind:<20} {one_line(problem.page, 120)}: {one_line(problem.detail, 200)}{meant}")
    if len(report.problems) > _MAX_LINES:
        lines.append(f"and {len(report.problems) - _MAX_LINES} more; --json lists all")
    print_text("\n".join(lines))
    return ILL if report.problems else 0


def _verify(args: argparse.Namespace, settings: "Settings") -> int:
    from deepdelve.engine import facade

    checks = facade.vaults().verify(settings, _folder(args))
    if args.json:
        print_json(
            [
                {
                    "page": check.path,
                    "ok": check.ok,
                    "counts": check.counts.model_dump(),
                    "missing": list(check.missing),
                    "uncarried": [claim.text for claim in check.uncarried],
                }
                for check in checks
            ]
        )
    else:
        print_text("\n".join(line for check in checks for line in _verified(check)) or "There is no page to verify.")
    return 0 if all(check.ok for check in checks) else ILL


def _verified(check: Any) -> list[str]:
    counts = check.counts
    carried = f"{counts.supported} of {counts.total} claims supported, {counts.partial} partly"
    head = f"{'ok ' if check.ok else 'BAD'}   {one_line(check.title, 100)}: {carried}"
    lines = [f"      not carried: {one_line(claim.text, 200)}" for claim in check.uncarried[:_MAX_LINES]]
    return [head, *lines, *(f"      the kept text of source {number} is missing or changed" for number in check.missing)]


def _run_of(args: argparse.Namespace) -> str:
    if not (args.words or "").strip():
        raise UsageError("No run is named.", "List them: deepdelve vault runs")
    return args.words.strip()


def _with_service(settings: "Settings", look: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    from deepdelve.engine import facade

    service = facade.vaults().service(settings)
    try:
        return look(service)
    finally:
        service.database.close()


_HANDLERS = {
    "research": _research,
    "runs": _runs,
    "show": _show,
    "ingest": _ingest,
    "add": _add,
    "check": _check,
    "lint": _lint,
    "verify": _verify,
}
