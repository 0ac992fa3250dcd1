"""The ledger: its tables, its constraints, and rows that a killed process left running."""

import os
import textwrap
import uuid
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from deepdelve.config import Settings
from deepdelve.core.errors import ConfigError, DiskError, RunNotFoundError, StateError
from deepdelve.engine.bounded import database as databases
from deepdelve.engine.bounded.database import open_database
from deepdelve.engine.bounded.ledger import process_start
from deepdelve.engine.bounded.models import Base
from deepdelve.engine.bounded.service import open_service
from tests.engine.bounded.kit import Bench, bench, database_address
from tests.support.children import child


async def test_b06a_a_run_leaves_a_row_with_all_that_was_asked_for() -> None:
    with bench() as made:
        result = await made.run()
        row = made.ledger.get(result.run_id)
        assert (row.vault_id, row.status, row.max_iter, row.token_budget) == ("default", "converged", 3, 100_000)
        assert row.queries_used == ["northern bay tides", "bay water level"]
        assert row.synthesis_sha256
        assert row.frozen_json["model"] == "scripted-1"
        assert "http" not in str(row.frozen_json)
        assert (row.owner_pid, row.owner_start) == (os.getpid(), process_start(os.getpid()))


async def test_b06b_each_source_has_a_row_with_its_text_and_score() -> None:
    with bench() as made:
        result = await made.run()
        for row in made.ledger.sources(result.run_id):
            assert row.url
            assert row.title
            assert row.fetched_content_md
            assert row.relevance_score is not None
            assert (row.iteration, row.outcome) == (1, "ok")


async def test_b06c_a_deleted_run_takes_its_rows_along_and_a_deleted_page_leaves_the_run() -> None:
    with bench() as made:
        result = await made.run()
        with made.database.transaction() as session:
            session.execute(sa.delete(Base.metadata.tables["pages"]))
        assert made.ledger.get(result.run_id).synthesis_page_id is None
        with made.database.transaction() as session:
            session.execute(sa.delete(Base.metadata.tables["deep_research_runs"]))
        assert made.ledger.sources(result.run_id) == []
        assert made.ledger.queries(result.run_id) == []
        assert made.ledger.calls(result.run_id) == []


def test_b06d_the_tables_made_by_the_steps_are_those_of_the_models() -> None:
    with bench() as made, made.database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_b06d_the_steps_can_be_taken_back(tmp_path: Path) -> None:
    from alembic import command

    made = open_database(f"sqlite:///{tmp_path / 'x.db'}")
    config = databases.alembic_config()
    with made.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    assert set(sa.inspect(made.engine).get_table_names()) == {"alembic_version"}
    made.close()
    again = open_database(f"sqlite:///{tmp_path / 'x.db'}")
    assert "pages" in sa.inspect(again.engine).get_table_names()
    again.close()


@pytest.mark.parametrize(
    "change",
    [{"status": "odd"}, {"max_iter": 0}, {"max_iter": 11}, {"status": "converged"}, {"completed_at": "2026-01-01T00:00:00"}],
)
def test_the_database_itself_refuses_rows_that_cannot_be(change: dict[str, object]) -> None:
    with bench() as made:
        run_id = str(uuid.uuid4())
        made.enter(run_id)
        with pytest.raises(StateError):
            made.ledger.update(run_id, **change)
        assert made.ledger.get(run_id).status == "running"


def test_a_final_row_stays_final() -> None:
    with bench() as made:
        run_id = str(uuid.uuid4())
        made.enter(run_id)
        assert made.ledger.finish(run_id, "cancelled")
        assert not made.ledger.finish(run_id, "error", error_message="late")
        made.ledger.update(run_id, phase="fetching")
        row = made.ledger.get(run_id)
        assert (row.status, row.phase, row.error_message) == ("cancelled", "done", None)


RUNS_PAUSED = textwrap.dedent(
    """
    import asyncio, sys
    from deepdelve.engine.bounded.work import Work
    from tests.engine.bounded.kit import Bench, ScriptedFetcher, ScriptedModel, ScriptedSearxng

    enter = Work.enter
    paused_at = {}

    async def entered(self, phase):
        await enter(self, phase)
        await paused_at[self.run_id](phase)

    async def run_until(where, run_id, reached):
        async def pause(here):
            if here == where:
                reached.set()
                await asyncio.Event().wait()

        paused_at[run_id] = pause
        made = Bench(model=ScriptedModel(pause=pause), searxng=ScriptedSearxng(pause=pause), fetcher=ScriptedFetcher(pause=pause))
        await made.run(run_id=run_id)

    async def main():
        Work.enter = entered
        runs = []
        for number, where in enumerate(sys.argv[1:]):
            reached = asyncio.Event()
            runs.append(asyncio.create_task(run_until(where, f"00000000-0000-4000-8000-00000000000{number}", reached)))
            await asyncio.wait_for(reached.wait(), 20)
            print(where, flush=True)
        await asyncio.gather(*runs)

    asyncio.run(main())
    """
)
# Those that keep one of the three slots for searches and fetches come last: each phase has a run of its own, all in one process.
PHASES = ("queries", "assess", "synthesize", "validating", "ingesting", "search", "fetch")


def test_b11_a_run_killed_in_any_phase_is_swept() -> None:
    database_address()
    with child(RUNS_PAUSED, *PHASES) as process, bench() as made:
        assert process.stdout is not None
        assert tuple(process.stdout.readline().strip() for _ in PHASES) == PHASES
        assert made.ledger.sweep() == [], "the process is alive"
        process.kill()
        process.wait(60)
        swept = made.ledger.sweep()
        assert len(set(swept)) == len(PHASES)
        for run_id in swept:
            row = made.ledger.get(run_id)
            assert (row.status, row.stop_detail, row.error_message) == ("error", "interrupted", "interrupted (process restart)")
            assert row.completed_at
        assert made.ledger.sweep() == []
        assert not made.pages()


def test_b11_a_process_number_that_was_given_again_is_no_owner() -> None:
    with bench() as made:
        run_id = str(uuid.uuid4())
        made.enter(run_id)
        made.ledger.update(run_id, owner_start="1")
        assert made.ledger.sweep() == [run_id]


def test_opening_the_service_sweeps() -> None:
    with bench() as made:
        run_id = str(uuid.uuid4())
        made.enter(run_id)
        made.ledger.update(run_id, owner_pid=None)
    settings = Settings()
    settings.settings.database_url = database_address()
    service = open_service(settings)
    assert service.ledger.get(run_id).status == "error"
    service.database.close()


def test_runs_are_found_by_id_beginning_and_latest() -> None:
    with bench() as made:
        first, second = "aaaa0000-0000-4000-8000-000000000000", "aaaa1111-0000-4000-8000-000000000000"
        for run_id in (first, second):
            made.enter(run_id)
        assert made.ledger.resolve("latest") == second
        assert made.ledger.resolve("aaaa0") == first
        for name in ("aaaa", "bbbb", "%"):
            with pytest.raises(RunNotFoundError):
                made.ledger.resolve(name)
        with pytest.raises(RunNotFoundError):
            made.ledger.get("none")


@pytest.mark.parametrize("url", ["nonsense", "nonsense://x", "sqlite+nodriver:///x"])
def test_an_address_that_is_none_is_one_line(url: str) -> None:
    with pytest.raises(ConfigError, match="database"):
        open_database(url)


def test_a_file_that_cannot_be_written_or_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DiskError):
        open_database(f"sqlite:///{tmp_path / 'file' / 'vault.db'}")
    (tmp_path / "broken.db").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(StateError):
        open_database(f"sqlite:///{tmp_path / 'broken.db'}")


@pytest.mark.usefixtures("version_as_before")
def test_a_ledger_of_a_newer_version_is_refused() -> None:
    made = Bench()
    with made.database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    made.close()
    with pytest.raises(StateError, match="another version"):
        Bench()
