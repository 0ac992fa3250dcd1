"""Bounded vault research, and the vaults that it fills: what surfaces may call, reached through ``engine.facade``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deepdelve.config import Settings
from deepdelve.core.errors import UsageError
from deepdelve.engine.backends.doctor import Finding
from deepdelve.engine.bounded import bounds, database, views
from deepdelve.engine.bounded import check as checking
from deepdelve.engine.bounded.service import VaultService, open_service
from deepdelve.engine.vault import adding, layout, verifying
from deepdelve.engine.vault import lint as linting
from deepdelve.engine.vault.layout import Vault
from deepdelve.engine.vault.lint import LintReport
from deepdelve.engine.vault.seam import IngestResult
from deepdelve.engine.vault.verifying import PageCheck
from deepdelve.utils.secrets import shown


def service(settings: Settings) -> VaultService:
    """Bounded vault research: start, follow, cancel, list. Runs of processes that are gone are made final first. Blocking.

    Raises:
        ConfigError: the address of the database is none.
        DiskError: the ledger cannot be written.
    """
    return open_service(settings)


def vault_of(settings: Settings, vault_id: str = "", folder: Path | None = None) -> Vault:
    """The vault of an id or a folder, else that of the settings.

    Raises:
        UsageError: the id is none.
    """
    return layout.vault_of(settings, vault_id, folder)


def check_queries(queries: Sequence[str], settings: Settings) -> None:
    """Hold that the first round of a bounded run can search each of these queries.

    Raises:
        UsageError: there are too many, or one holds nothing to search for.
    """
    bounds.check_queries(queries, bounds.frozen_bounds(settings).max_queries)


def line(event: dict[str, Any]) -> str:
    """One event of a bounded run as a line for a person; empty where it says nothing new."""
    return views.line(event)


def add(run_id: str, settings: Settings, folder: Path | None = None) -> IngestResult:
    """Let the report of a finished run into the vault, without what its sources do not carry. Blocking.

    Raises:
        RunNotFoundError: there is no such run.
        UsageError: it has no report, or nothing of it is carried.
    """
    ledger = database.open_database(database.database_url(settings))
    try:
        return adding.add_run(run_id, vault_of(settings, folder=folder), ledger)[0]
    finally:
        ledger.close()


async def check(settings: Settings, folder: Path | None = None) -> list[Finding]:
    """SearXNG, ledger, vault and model, each with what mends it."""
    return await checking.check(settings, vault_of(settings, folder=folder))


def lint(settings: Settings, folder: Path | None = None) -> LintReport:
    """What is wrong in the vault's pages. Blocking.

    Raises:
        UsageError: there is no vault.
    """
    return linting.lint(_there(vault_of(settings, folder=folder)))


def verify(settings: Settings, folder: Path | None = None) -> list[PageCheck]:
    """Each page of the vault against the kept texts of its sources. Blocking.

    Raises:
        UsageError: there is no vault.
    """
    return list(verifying.verify_pages(_there(vault_of(settings, folder=folder))))


def shown_settings(settings: Settings) -> dict[str, Any]:
    """The settings as they may be shown: secrets masked."""
    return shown(settings)


def _there(vault: Vault) -> Vault:
    if not vault.wiki.is_dir():
        raise UsageError(f"There is no vault in {vault.root}.", "Correct --vault or vault.dir, or make one: deepdelve vault research TOPIC")
    return vault
