"""The API in one process: real general runs, and a scripted bounded run behind it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx

from deepdelve.api.live import LiveRuns
from deepdelve.api.server import create_app, guarded
from deepdelve.config import Settings
from deepdelve.engine.bounded.service import VaultService
from tests.engine.bounded.kit import Bench, bench

BASE = "http://127.0.0.1:8420"


def api_settings(**serve: Any) -> Settings:
    settings = Settings()
    settings.search.searxng_url = "http://127.0.0.1:9"
    settings.api.backend = "builtin"
    for name, value in serve.items():
        setattr(settings.serve, name, value)
    return settings


class Api:
    """A client, the service behind it, and what its runs work with."""

    def __init__(self, made: Bench, service: VaultService, client: httpx.AsyncClient, live: LiveRuns) -> None:
        self.bench = made
        self.live = live
        self.service = service
        self.client = client

    async def start(self, **body: Any) -> str:
        answer = await self.client.post("/research/start", json={"vault_id": "default", "topic": "Tides of the northern bay", **body})
        assert answer.status_code == 202, answer.text
        return answer.json()["run_id"]

    async def begin(self, question: str = "How long is the river Alder?", **body: Any) -> str:
        """Start a general run."""
        answer = await self.client.post("/runs", json={"question": question, **body})
        assert answer.status_code == 202, answer.text
        return answer.json()["run_id"]

    async def over(self, run_id: str) -> dict[str, Any]:
        """A general run once it has ended."""
        await self.events(run_id)
        return (await self.client.get(f"/runs/{run_id}")).json()

    async def events(self, run_id: str, **headers: str) -> list[dict[str, Any]]:
        """The events of a general run to its end."""
        answer = await asyncio.wait_for(self.client.get(f"/runs/{run_id}/events", headers=headers), 60)
        assert answer.headers["content-type"].startswith("text/event-stream")
        return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]

    async def ended(self, run_id: str) -> dict[str, Any]:
        await asyncio.wait_for(self.service.settled(run_id), 20)
        return (await self.client.get(f"/research/runs/{run_id}")).json()


@contextlib.asynccontextmanager
async def api(settings: Settings | None = None, **parts: Any) -> AsyncIterator[Api]:
    chosen = settings or api_settings()
    with bench(settings=chosen, **parts) as made:

        async def open_(wanted: Settings, vault: Any, database: Any, listener: Any) -> Any:
            from dataclasses import replace

            return replace(made.services(), vault=vault)

        service = VaultService(chosen, made.database, open_)
        live = LiveRuns(chosen)
        app = guarded(create_app(chosen, service, live), chosen)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=BASE, timeout=20) as client:
            yield Api(made, service, client, live)
        await live.close()
        await service.close()
