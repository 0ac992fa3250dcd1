"""The service of bounded runs: what is refused before there is a row, one at a time, following, cancelling, and ingesting again."""

import asyncio
import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deepdelve.config import Settings
from deepdelve.core.errors import BackendError, ConfigError, DiskError, RunNotFoundError, StateError, UsageError
from deepdelve.engine import facade, store
from deepdelve.engine.bounded import views
from deepdelve.engine.bounded.backends import RuleModel, open_provider
from deepdelve.engine.bounded.bounds import check_queries
from deepdelve.engine.bounded.service import VaultService, read_events, usable_sources
from deepdelve.engine.vault import layout, transaction
from deepdelve.engine.vault.layout import Vault, vault_of
from deepdelve.tools.searxng import SearxngClient
from deepdelve.utils import files
from tests.engine.bounded.kit import FACT, SECOND, TOPIC, Bench, ScriptedModel, bench


def serving(made: Bench) -> VaultService:
    """A service whose runs work with what the bench has."""
    made.settings.search.searxng_url = "http://127.0.0.1:9"

    async def open_(settings: Any, vault: Vault, database: Any, listener: Any) -> Any:
        return replace(made.services(), listener=listener or made.events.append, vault=vault)

    return VaultService(made.settings, made.database, open_)


def rows(made: Bench) -> int:
    return made.ledger.runs()[1]


# What is refused before there is a row


@pytest.mark.parametrize(
    "url", ["ftp://searx.example", "localhost:8888", "searx.example", "file:///etc/passwd", "http://", "javascript:1", "::"]
)
async def test_an_address_that_is_none_is_refused_before_there_is_a_row(url: str) -> None:
    with bench() as made:
        service = serving(made)
        made.settings.search.searxng_url = url
        with pytest.raises(ConfigError, match="SearXNG") as told:
            await service.start(TOPIC)
        assert "http://127.0.0.1:8888" in told.value.remedy
        assert rows(made) == 0
        with pytest.raises(ConfigError):
            SearxngClient(url)


async def test_the_address_of_the_environment_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", "gopher://searx.example")
    with bench() as made:
        with pytest.raises(ConfigError, match="gopher"):
            await serving(made).start(TOPIC)
        assert rows(made) == 0


EMPTY = ["!g", ":de", "<5", "!g :de <5", " ", "", "\n\t", "!!", "…", "***", '""']


@pytest.mark.parametrize("query", EMPTY)
def test_a_query_of_which_nothing_is_left_is_refused_where_a_person_types_it(query: str) -> None:
    with pytest.raises(UsageError, match="Nothing is left") as told:
        facade.vaults().check_queries(["bay tides", query], Settings())
    assert "!g" in told.value.remedy


async def test_a_query_that_is_left_out_of_a_run_is_told_among_its_events() -> None:
    with bench() as made:
        service = serving(made)
        run_id = await service.start(TOPIC, queries=["bay tides", "!g", *(f"tides of bay {number}" for number in range(6)), "bay tides"])
        await service.wait(run_id)
        (told,) = (event for event in made.events if event["type"] == "left_out")
        assert told["queries"] == ["!g", "tides of bay 4", "tides of bay 5"]
        assert (
            views.line(told) == "Left out (nothing to search for, or more than 5 queries a round): '!g', 'tides of bay 4', 'tides of bay 5'"
        )
        assert len(made.ledger.get(run_id).queries_used) == 5


async def test_more_queries_than_any_round_can_hold_are_refused() -> None:
    with bench() as made:
        with pytest.raises(UsageError, match="11 queries"):
            await serving(made).start(TOPIC, queries=["q"] * 11)
        assert rows(made) == 0


@pytest.mark.parametrize(
    ("queries", "most", "told"),
    [
        (["a1", "b2", "c3"], 2, "There are 3 queries, and a round searches 2."),
        (["tides"] * 9, 2, ""),
        (["tides", "Tides", " tides "], 1, ""),
        (["a1", "b2"], 2, ""),
        ([], 2, ""),
        (["x" * 900], 2, ""),
    ],
)
def test_more_queries_than_a_round_searches_are_refused_and_repetitions_are_none(queries: list[str], most: int, told: str) -> None:
    if not told:
        check_queries(queries, most)
        return
    with pytest.raises(UsageError) as caught:
        check_queries(queries, most)
    assert caught.value.message == told


async def test_queries_that_pass_are_those_of_the_first_round() -> None:
    with bench() as made:
        service = serving(made)
        run_id = await service.start(TOPIC, queries=["!g bay tides", "harbour levels"])
        await service.wait(run_id)
        assert made.ledger.get(run_id).queries_used[:2] == ["bay tides", "harbour levels"]
        assert "queries" not in made.model.tasks
        assert not [event for event in made.events if event["type"] == "left_out"]


@pytest.mark.parametrize("bounds", [{"max_iter": 0}, {"max_iter": 11}, {"token_budget": 999}])
async def test_bounds_out_of_range_are_refused_before_there_is_a_row(bounds: dict[str, int]) -> None:
    with bench() as made:
        with pytest.raises(UsageError):
            await serving(made).start(TOPIC, **bounds)
        assert rows(made) == 0


# The vault that cannot be written


class Refusing:
    """Stands for a disk that takes no temporary file below one folder."""

    def __init__(self, code: int, below: Path) -> None:
        self.code, self.below = code, below
        self.real = layout.tempfile.TemporaryFile

    def __call__(self, *, dir: Path) -> Any:  # the name is the standard library's
        if Path(dir).is_relative_to(self.below):
            raise OSError(self.code, os.strerror(self.code))
        return self.real(dir=dir)


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT, errno.EIO])
async def test_a_vault_that_cannot_be_written_is_noticed_before_anything_is_searched(
    code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "vault").mkdir()
    monkeypatch.setattr(layout.tempfile, "TemporaryFile", Refusing(code, tmp_path / "vault"))
    with bench(vault=vault_of(Settings(), folder=tmp_path / "vault")) as made:
        with pytest.raises(DiskError) as told:
            await serving(made).start(TOPIC, vault=made.vault)
        assert "--vault" in told.value.remedy
        assert told.value.no_room == (code in files.NO_ROOM)
        assert (rows(made), made.searxng.asked, made.model.calls) == (0, [], [])


@pytest.mark.parametrize("harm", ["file in place of the vault", "file above it", "dangling link", "wiki is a file", "pages are a file"])
async def test_what_is_no_folder_is_noticed_before_anything_is_searched(harm: str, tmp_path: Path) -> None:
    root = tmp_path / "there" / "vault"
    if harm == "file above it":
        (tmp_path / "there").write_text("x")
    else:
        root.parent.mkdir()
        if harm == "file in place of the vault":
            root.write_text("x")
        elif harm == "dangling link":
            root.symlink_to(tmp_path / "gone")
        elif harm == "wiki is a file":
            root.mkdir()
            (root / "wiki").write_text("x")
        else:
            (root / "raw" / "assets").mkdir(parents=True)
            (root / "raw" / "assets" / "pages").write_text("x")
    with bench(vault=vault_of(Settings(), folder=root)) as made:
        with pytest.raises(DiskError):
            await serving(made).start(TOPIC, vault=made.vault)
        assert rows(made) == 0


def test_looking_whether_a_vault_can_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    vault = vault_of(Settings(), folder=tmp_path / "not yet" / "vault")
    vault.check_writable()
    assert list(tmp_path.iterdir()) == []
    vault.own.mkdir(parents=True)
    vault.check_writable()
    assert [path for path in vault.root.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC])
async def test_a_vault_that_becomes_read_only_while_a_run_goes_leaves_a_final_row_and_no_half_page(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, text: str, **options: Any) -> None:
        raise files.disk_error(OSError(code, os.strerror(code)), path)

    with bench() as made:
        service = serving(made)
        run_id = await service.start(TOPIC)
        with monkeypatch.context() as changed:
            changed.setattr(layout, "write_text_atomic", refuse)
            changed.setattr(transaction, "write_text_atomic", refuse)
            await service.settled(run_id)
        row = made.ledger.get(run_id)
        assert (row.status, bool(row.completed_at)) == ("error", True)
        assert "\n" not in (row.error_message or row.ingest_status or "")
        assert not list(made.vault.root.rglob("*.tmp"))
        assert made.pages() == []


async def test_a_note_that_could_not_be_ingested_is_kept_and_enters_once_the_disk_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, text: str) -> None:
        raise files.disk_error(OSError(errno.EROFS, "read-only"), path)

    with bench() as made:
        service = serving(made)
        with monkeypatch.context() as changed:
            changed.setattr(transaction, "_write_through", refuse)
            run_id = await service.start(TOPIC)
            ended = await service.wait(run_id)
        row = made.ledger.get(run_id)
        assert (row.status, row.stop_detail, row.synthesis_page_id) == ("converged", "ingest_failed", None)
        assert "read-only" in (row.ingest_status or "")
        assert made.pages() == []
        assert ended.page_path == ""
        result = await service.ingest(run_id)
        row = made.ledger.get(run_id)
        assert (result.status, row.stop_detail, row.synthesis_page_id) == ("completed", None, result.page_id)
        assert len(made.pages()) == 1


# Ingesting again


async def test_a_note_whose_file_is_lost_is_written_again_from_the_ledger() -> None:
    with bench() as made:
        service = serving(made)
        run_id = await service.start(TOPIC)
        await service.wait(run_id)
        raw = made.vault.root / "raw" / "sources" / f"deep-research-{run_id}.md"
        before = raw.read_text()
        raw.unlink()
        made.pages()[0].unlink()
        result = await service.ingest(run_id)
        assert result.status == "completed"
        assert raw.read_text() == before
        assert FACT in made.pages()[0].read_text()


@pytest.mark.parametrize(("synthesis", "why"), [("Nothing carried. [9]", "synthesis invalid"), ("", "synthesis invalid")])
async def test_what_did_not_pass_the_gate_cannot_be_ingested(synthesis: str, why: str) -> None:
    with bench(model=ScriptedModel(synthesize=synthesis)) as made:
        service = serving(made)
        run_id = await service.start(TOPIC)
        await service.wait(run_id)
        with pytest.raises(UsageError, match=why):
            await service.ingest(run_id)


async def test_a_run_that_goes_on_cannot_be_ingested_and_one_that_is_not_there_neither() -> None:
    with bench() as made:
        service = serving(made)
        made.enter("a0000000-0000-4000-8000-000000000001")
        with pytest.raises(UsageError, match="goes on"):
            await service.ingest("a0000000-0000-4000-8000-000000000001")
        with pytest.raises(RunNotFoundError):
            await service.ingest("b0000000-0000-4000-8000-000000000001")


# Side by side


class Held:
    """A model whose first call waits until it is let go."""

    def __init__(self) -> None:
        self.reached, self.go = asyncio.Event(), asyncio.Event()

    async def __call__(self, task: str) -> None:
        self.reached.set()
        await self.go.wait()


async def test_one_run_goes_on_at_a_time_and_the_next_waits_in_the_queue() -> None:
    held = Held()
    with bench(model=ScriptedModel(pause=held)) as made:
        service = serving(made)
        first, second = await service.start(TOPIC), await service.start("levels of the northern bay")
        await asyncio.wait_for(held.reached.wait(), 30)
        assert [made.ledger.get(run).phase for run in (first, second)] == ["generating", "queued"]
        held.go.set()
        ended = [await service.wait(run) for run in (first, second)]
        assert [result.status for result in ended] == ["converged", "converged"]
        with pytest.raises(StateError, match="does not go on"):
            await service.wait(first)


@pytest.mark.parametrize("which", ["first", "second"])
async def test_a_run_can_be_cancelled_while_it_goes_and_while_it_waits(which: str) -> None:
    held = Held()
    with bench(model=ScriptedModel(pause=held)) as made:
        service = serving(made)
        runs = {"first": await service.start(TOPIC), "second": await service.start("levels of the northern bay")}
        await asyncio.wait_for(held.reached.wait(), 30)
        assert await service.cancel(runs[which])
        row = made.ledger.get(runs.pop(which))
        assert (row.status, bool(row.completed_at), row.phase) == ("cancelled", True, "done")
        held.go.set()
        (other,) = runs.values()
        await service.settled(other)
        assert made.ledger.get(other).status == "converged"
        assert not await service.cancel(other)
        with pytest.raises(RunNotFoundError):
            await service.cancel("b0000000-0000-4000-8000-000000000001")


async def test_closing_the_service_ends_what_goes_on_as_cancelled() -> None:
    held = Held()
    with bench(model=ScriptedModel(pause=held)) as made:
        service = serving(made)
        runs = [await service.start(TOPIC), await service.start("levels of the northern bay")]
        await asyncio.wait_for(held.reached.wait(), 30)
        close, made.database.close = made.database.close, lambda: None  # type: ignore[method-assign]
        await service.close()
        made.database.close = close  # type: ignore[method-assign]
        assert [made.ledger.get(run).status for run in runs] == ["cancelled", "cancelled"]


async def test_what_fails_on_opening_is_the_runs_error_and_the_next_run_goes_on() -> None:
    with bench() as made:
        service = serving(made)
        opened = service._open

        async def refuse(*given: Any) -> Any:
            service._open = opened
            raise BackendError("The model server does not answer.", "Start it.", cause="unreachable")

        service._open = refuse
        first = await service.start(TOPIC)
        second = await service.start("levels of the northern bay")
        await service.settled(first)
        await service.settled(second)
        row = made.ledger.get(first)
        assert (row.status, row.error_message) == ("error", "The model server does not answer. Start it.")
        assert made.ledger.get(second).status == "converged"


# Looking


async def test_a_run_is_followed_from_its_first_event_to_its_last_also_by_those_who_come_late() -> None:
    with bench() as made:
        service = serving(made)
        run_id = await service.start(TOPIC)
        early = [event async for event in service.follow(run_id)]
        late = [event async for event in service.follow(run_id)]
        assert early == late == read_events(run_id)
        assert early[-1]["type"] == "done"
        assert early[-1]["status"] == "converged"
        with pytest.raises(RunNotFoundError):
            _ = [event async for event in service.follow("b0000000-0000-4000-8000-000000000001")]


async def test_a_run_is_shown_with_queries_and_sources_and_texts_only_where_asked() -> None:
    with bench() as made:
        service = serving(made)
        run_id = await service.start(TOPIC)
        await service.wait(run_id)
        plain, whole = service.detail(run_id, include_content=False), service.detail(run_id, include_content=True)
        assert plain["page"].startswith("wiki/synthesis/")
        assert [query["class"] for query in plain["queries"]] == ["ok", "ok"]
        assert "fetched_content_md" not in plain["sources"][0]
        assert {source["fetched_content_md"] for source in whole["sources"]} == {f"# Tides\n\n{FACT}", f"# Levels\n\n{SECOND}"}
        assert [source.ordinal for source in usable_sources(made.ledger, run_id)] == [1, 2]


async def test_runs_are_listed_page_by_page_newest_first_and_by_vault() -> None:
    with bench() as made:
        service = serving(made)
        runs = [await service.start(f"{TOPIC} {number}") for number in range(3)]
        for run in runs:
            await service.settled(run)
        first, rest = service.page_of_runs("", 2, 0), service.page_of_runs("", 2, 2)
        assert (first["total"], first["limit"], rest["offset"]) == (3, 2, 2)
        assert [row["id"] for row in (*first["items"], *rest["items"])] == runs[::-1]
        assert service.page_of_runs("elsewhere", 2, 0)["items"] == []
        assert service.resolve("latest") == runs[-1]
        assert service.resolve(runs[0][:13]) == runs[0]
        with pytest.raises(RunNotFoundError):
            service.resolve("zz")
        assert facade.count_vault_runs() == store.count_vault_runs() == 3


def test_bounded_runs_are_counted_without_a_ledger_and_without_a_folder(isolated: Path) -> None:
    assert facade.count_vault_runs() == 0
    isolated.mkdir(exist_ok=True)
    (isolated / "vault-runs").write_text("no folder")
    assert facade.count_vault_runs() == 0


# The model that is none


async def test_where_no_model_is_there_the_provider_works_by_rule_and_closes() -> None:
    settings = Settings()
    settings.api.backend = "auto"
    settings.api.ollama_host = "http://127.0.0.1:9"
    opened = await open_provider(settings)
    assert (opened.model, opened.endpoint) == (RuleModel().model, RuleModel().name) == ("extractive-1", "builtin")
    assert "no model" in opened.line
    await opened.close()
    assert not hasattr(RuleModel(), "client")
