"""The database of ledger and vault index: SQLite beside the runs, or any address that SQLAlchemy knows. Tables are made by Alembic."""

import contextlib
import functools
from collections.abc import Generator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session

from deepdelve.config import Settings, home
from deepdelve.core.errors import ConfigError, DiskError, StateError

HEAD = "0001"
_BUSY_MS = 15_000
_FULL = ("disk is full", "disk i/o error", "readonly database", "unable to open database file", "attempt to write a readonly")


def database_url(settings: Settings) -> str:
    """The address in force: that of the settings, else the file in the home folder."""
    return settings.settings.database_url.strip() or f"sqlite:///{home() / 'vault.db'}"


class Database:
    """An open database. Blocking: to be used from worker threads.

    Args:
        engine: SQLAlchemy's.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of this machine."""
        return self.engine.dialect.name == "sqlite"

    @contextlib.contextmanager
    def transaction(self) -> Generator[Session]:
        """A session that is committed at the end of the block, and rolled back where it fails.

        Raises:
            DiskError: the disk is full or read-only.
            StateError: the database refused.
        """
        try:
            with Session(self.engine, expire_on_commit=False) as session, session.begin():
                yield session
        except SQLAlchemyError as error:
            raise _told(error) from error

    def close(self) -> None:
        """Let go of its connections."""
        self.engine.dispose()


def open_database(url: str) -> Database:
    """Open a database and bring its tables up to date.

    Raises:
        ConfigError: the address is none, or its driver is not installed.
        DiskError: the file cannot be written.
        StateError: the database cannot be reached, or is of a newer version.
    """
    try:
        parsed = sa.make_url(url)
        if parsed.drivername in {"postgresql", "postgres"}:
            parsed = parsed.set(drivername="postgresql+pg8000")
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        engine = sa.create_engine(parsed, pool_pre_ping=not parsed.drivername.startswith("sqlite"))
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise ConfigError("settings.database_url is not the address of a database.", "Leave it empty, or give postgresql://…") from error
    except ModuleNotFoundError as error:
        raise ConfigError(f"The driver of the database is not installed ({error.name}).", 'Run: pip install "deepdelve[server]"') from error
    except OSError as error:
        raise DiskError(f"The folder of the ledger cannot be made ({error.strerror or error}).", "Check its permissions.") from error
    database = Database(engine)
    if database.is_sqlite:
        event.listen(engine, "connect", _prepare_sqlite)
    try:
        with engine.connect() as connection:
            version = _version(connection)
        if version != HEAD:
            _upgrade(engine, version)
    except SQLAlchemyError as error:
        database.close()
        raise _told(error) from error
    except StateError:
        database.close()
        raise
    return database


def _prepare_sqlite(connection: Any, record: object) -> None:
    del record
    cursor = connection.cursor()
    for pragma in (f"busy_timeout={_BUSY_MS}", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(engine: sa.Engine, version: str | None) -> None:
    from alembic import command
    from alembic.util import CommandError

    config = alembic_config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StateError(
                f"The ledger was written by another version of DeepDelve ({version}).", "Use that version, or move the file away."
            ) from error


def alembic_config() -> Any:
    """Alembic's configuration, made by code: there is no file of it."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_migrations()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@functools.cache
def _migrations() -> Path:
    return Path(__file__).resolve().parent / "migrations"


def _told(error: SQLAlchemyError) -> StateError:
    reason = str(getattr(error, "orig", None) or error).splitlines()[0][:200].rstrip(". ")
    if isinstance(error, OperationalError) and any(mark in reason.lower() for mark in _FULL):
        return DiskError(f"The ledger cannot be written ({reason}).", "Free some space and check the folder's permissions.", no_room=True)
    return StateError(f"The ledger's database refused: {reason}.", "Check settings.database_url and that the database is up.")
