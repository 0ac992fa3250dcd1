"""``/research``: start, follow, list, look, cancel, ingest again; and what is refused before anything happens."""

import asyncio
import json
import uuid

import pytest

from deepdelve.core.errors import DiskError
from tests.api.kit import api, api_settings
from tests.engine.bounded.kit import ScriptedModel

RUN_FIELDS = {
    *("id", "vault_id", "topic", "status", "max_iter", "token_budget", "iterations_used", "queries_used", "sources_fetched"),
    *("total_cost_usd", "synthesis_text", "synthesis_page_id", "sources", "started_at", "completed_at", "error_message"),
}


async def test_b04a_start_answers_at_once_and_the_run_goes_on() -> None:
    async with api() as made:
        run_id = await made.start(max_iter=2, token_budget=5_000)
        row = made.bench.ledger.get(run_id)
        assert (row.status, row.max_iter, row.token_budget) == ("running", 2, 5_000)
        assert (await made.ended(run_id))["status"] == "converged"


async def test_b04b_the_list_is_paged_and_newest_first() -> None:
    async with api() as made:
        ids = [await made.start(topic=f"Tides of the northern bay {n}") for n in range(3)]
        for run_id in ids:
            await made.ended(run_id)
        first = (await made.client.get("/research/runs", params={"limit": 2})).json()
        second = (await made.client.get("/research/runs", params={"limit": 2, "offset": 2})).json()
        assert (first["total"], first["limit"], first["offset"]) == (3, 2, 0)
        assert [row["id"] for row in first["items"] + second["items"]] == ids[::-1]
        assert (await made.client.get("/research/runs", params={"vault_id": "other"})).json()["items"] == []


async def test_b04c_a_run_is_shown_with_sources_and_without_their_texts() -> None:
    async with api() as made:
        run_id = await made.start()
        shown = await made.ended(run_id)
        assert set(shown) >= RUN_FIELDS
        assert shown["synthesis_text"]
        assert {source["fetched_content_md"] for source in shown["sources"]} == {None}
        whole = (await made.client.get(f"/research/runs/{run_id}", params={"include_content": True})).json()
        assert all(source["fetched_content_md"] for source in whole["sources"])


async def test_b04d_the_note_is_null_until_it_is_written() -> None:
    async with api() as made:
        seen: list[object] = []

        async def look(task: str) -> None:
            rows = made.bench.ledger.runs()[0]
            seen.append(rows[0].synthesis_text)

        made.bench.model.pause = look
        await made.ended(await made.start())
        assert seen == [None, None, None]


async def test_b05_the_events_of_a_run_can_be_followed_to_its_end() -> None:
    async with api() as made:
        run_id = await made.start()
        answer = await made.client.get(f"/research/runs/{run_id}/events")
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert (events[-1]["type"], events[-1]["status"]) == ("done", "converged")
        assert next(event["phase"] for event in events if event["type"] == "phase") == "generating"


@pytest.mark.parametrize(
    "body",
    [
        {"topic": ""},
        {"topic": "   "},
        {"topic": "?"},
        {"topic": "x" * 10_000},
        {"topic": None},
        {"max_iter": 0},
        {"max_iter": 11},
        {"max_iter": "3"},
        {"token_budget": 999},
        {"token_budget": 1_000_001},
        {"queries": ["x"] * 11},
        {"queries": [""]},
        {"vault_id": ""},
        {"vault_id": "../x"},
        {"unknown": 1},
    ],
)
async def test_b29_bodies_that_do_not_fit_are_422_and_leave_no_row(body: dict[str, object]) -> None:
    async with api() as made:
        answer = await made.client.post("/research/start", json={"vault_id": "default", "topic": "tides", **body})
        assert answer.status_code == 422
        assert made.bench.ledger.runs()[1] == 0


@pytest.mark.parametrize(
    "text",
    [
        r'{"vault_id": "default", "topic": "tides \ud800"}',
        r'{"vault_id": "default", "topic": "tides", "\ud800": 1}',
        '{"vault_id": "default", "topic": "tides", "max_iter": NaN}',
        '{"vault_id": "default", "topic": "tides", "max_iter": Infinity}',
        '{"vault_id": "default", "topic": "tides", "queries": ' + "[" * 3_000 + "]" * 3_000 + "}",
        "[" * 60_000,
    ],
)
async def test_b29_text_that_no_answer_can_repeat_is_refused_and_leaves_no_row(text: str) -> None:
    async with api() as made:
        answer = await made.client.post("/research/start", content=text, headers={"Content-Type": "application/json"})
        assert answer.status_code in {400, 422}
        assert answer.json()["detail"]
        assert made.bench.ledger.runs()[1] == 0


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 101}, {"offset": -1}, {"limit": "x"}])
async def test_b29_pages_out_of_range_are_422(query: dict[str, object]) -> None:
    async with api() as made:
        assert (await made.client.get("/research/runs", params=query)).status_code == 422


async def test_b29_routes_do_not_clash_and_ids_are_uuids() -> None:
    async with api() as made:
        assert (await made.client.get("/research/runs")).json()["items"] == []
        assert (await made.client.get(f"/research/{uuid.uuid4()}")).status_code == 404
        for path in ("", "/events"):
            assert (await made.client.get(f"/research/runs/{uuid.uuid4()}{path}")).status_code == 404
            assert (await made.client.get(f"/research/runs/not-a-uuid{path}")).status_code == 422
        for path in ("cancel", "ingest"):
            assert (await made.client.post(f"/research/runs/{uuid.uuid4()}/{path}")).status_code == 404


async def test_b29_without_searxng_it_is_503_and_there_is_no_row() -> None:
    settings = api_settings()
    settings.search.searxng_url = ""
    async with api(settings) as made:
        answer = await made.client.post("/research/start", json={"vault_id": "default", "topic": "tides"})
        assert answer.status_code == 503
        assert "SEARXNG_URL" in answer.json()["detail"]
        assert made.bench.ledger.runs()[1] == 0


async def test_one_run_at_a_time_and_the_rest_wait() -> None:
    reached, go = asyncio.Event(), asyncio.Event()

    async def pause(task: str) -> None:
        reached.set()
        await go.wait()

    async with api(model=ScriptedModel(pause=pause)) as made:
        first = await made.start()
        await asyncio.wait_for(reached.wait(), 10)
        second = await made.start()
        await asyncio.sleep(0.05)
        assert made.bench.ledger.get(second).phase == "queued"
        go.set()
        assert (await made.ended(first))["status"] == (await made.ended(second))["status"] == "converged"


async def test_a_run_can_be_cancelled_while_it_goes_on_and_while_it_waits() -> None:
    reached = asyncio.Event()

    async def pause(task: str) -> None:
        reached.set()
        await asyncio.sleep(60)

    async with api(model=ScriptedModel(pause=pause)) as made:
        first = await made.start()
        await asyncio.wait_for(reached.wait(), 10)
        second = await made.start()
        for run_id in (second, first):
            answer = await made.client.post(f"/research/runs/{run_id}/cancel")
            assert (answer.status_code, answer.json()["status"]) == (202, "cancelled")
            row = made.bench.ledger.get(run_id)
            assert row.status == "cancelled"
            assert row.completed_at
        assert (await made.client.post(f"/research/runs/{first}/cancel")).status_code == 409


async def test_a_failed_ingest_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with api() as made:

        def full(path: object) -> object:
            raise DiskError("There is no room to write it.", "Free some space.")

        monkeypatch.setattr(made.bench.seam, "ingest_file", full)
        run_id = await made.start()
        assert (await made.ended(run_id))["stop_detail"] == "ingest_failed"
        answer = (await made.client.post(f"/research/runs/{run_id}/ingest")).json()
        assert answer["status"] == "completed"
        row = made.bench.ledger.get(run_id)
        assert (row.synthesis_page_id, row.stop_detail, row.ingest_status) == (answer["page_id"], None, "completed")
        (made.bench.vault.root / "raw" / "sources" / f"deep-research-{run_id}.md").unlink()
        assert (await made.client.post(f"/research/runs/{run_id}/ingest")).json()["status"] == "skipped"


async def test_what_may_not_be_ingested_is_409() -> None:
    async with api(model=ScriptedModel(synthesize="Nothing. [9]")) as made:
        run_id = await made.start()
        assert (await made.ended(run_id))["stop_detail"] == "synthesis_invalid"
        answer = await made.client.post(f"/research/runs/{run_id}/ingest")
        assert answer.status_code == 409
        assert "nothing to ingest" in answer.json()["detail"]


async def test_a_named_vault_has_a_folder_of_its_own() -> None:
    async with api() as made:
        shown = await made.ended(await made.start(vault_id="garden"))
        assert shown["vault_id"] == "garden"
        assert list((made.bench.vault.root.parent / "vaults" / "garden" / "raw").rglob("*.md"))
