"""Vault research in the app: its commands, and a bounded run as a handle that the controller follows."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from deepdelve.core.errors import UsageError
from deepdelve.core.requests import Command, RunResult
from deepdelve.tui.controller import Controller
from deepdelve.tui.text import one_line

_SHOWN = 12


class VaultRun:
    """A bounded run that goes on (``core.requests.RunHandle``)."""

    def __init__(self, run_id: str, folder: Path, going: Coroutine[Any, Any, RunResult]) -> None:
        self.run_id = run_id
        self.dir = folder
        self._task = asyncio.ensure_future(going)

    def command(self, command: Command) -> None:
        """Only a stop is heard: its bounds are frozen."""
        if command.kind == "stop":
            self._task.cancel()

    async def wait(self) -> RunResult:
        """The end of the run."""
        return await asyncio.shield(self._task)


async def research(controller: Controller, topic: str) -> None:
    """``/vault-research``: starts a bounded run and shows each of its phases."""
    if not topic:
        raise UsageError("Say what is to be found out.", "For example: /vault-research HSTS preload lists")
    await controller.read_settings()
    await controller.follow_beside(_started(controller, topic))


async def add(controller: Controller, argument: str) -> None:
    """``/vault-add``: lets a finished report into the vault."""
    vaults = await _vaults(controller)
    run = await controller.find_run(argument)
    result = await controller.call(vaults.add, run.run_id, controller.settings)
    controller.say(f"{result.status.capitalize()}{': ' + result.reason if result.reason else ''}. Page: {result.path}")


async def check(controller: Controller, argument: str) -> None:
    """``/vault-check``: SearXNG, ledger, vault and model."""
    del argument
    vaults = await _vaults(controller)
    rows = await vaults.check(controller.settings)
    lines = [f"{'✓' if row.ok else '✗'} {row.name}: {row.detail}{f' → {row.fix}' if row.fix and not row.ok else ''}" for row in rows]
    controller.say("\n".join(lines), "info" if all(row.ok for row in rows) else "warning")


async def lint(controller: Controller, argument: str) -> None:
    """``/vault-lint``: what is wrong in the vault."""
    del argument
    vaults = await _vaults(controller)
    report = await controller.call(vaults.lint, controller.settings)
    lines = [f"{report.pages} pages, {report.links} links, {len(report.problems)} problems"]
    lines += [f"{problem.kind}: {one_line(problem.page, 80)}: {one_line(problem.detail, 120)}" for problem in report.problems[:_SHOWN]]
    if len(report.problems) > _SHOWN:
        lines.append(f"and {len(report.problems) - _SHOWN} more: deepdelve vault lint")
    controller.say("\n".join(lines), "warning" if report.problems else "info")


async def _vaults(controller: Controller) -> Any:
    engine = await controller.engine()
    return await controller.call(engine.vaults)


async def _started(controller: Controller, topic: str) -> VaultRun:
    vaults = await _vaults(controller)

    def show(event: dict[str, Any]) -> None:
        if line := vaults.line(event):
            controller.say(line)

    service = await controller.call(vaults.service, controller.settings)
    vault = vaults.vault_of(controller.settings)
    try:
        run_id = await service.start(topic, vault=vault, listener=show)
    except BaseException:
        await service.close()
        raise
    return VaultRun(run_id, vault.root, _to_its_end(controller, service, run_id, vault.root))


async def _to_its_end(controller: Controller, service: Any, run_id: str, root: Path) -> RunResult:
    try:
        await service.settled(run_id)
        row = await asyncio.to_thread(service.detail, run_id, include_content=False)
    finally:
        await service.close()
    if row["page"]:
        controller.say(f"In the vault: {root / row['page']}")
    elif row["error_message"]:
        controller.say(row["error_message"], "error")
    outcome = "partial" if row["page"] else "no_evidence"
    return RunResult(run_id, str(root), outcome, 0 if row["page"] else 3, row["topic"], "standard", "vault")
