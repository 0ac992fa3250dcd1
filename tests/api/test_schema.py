"""Every route against its own description, with requests that nobody would think of."""

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.openapi import from_asgi

from deepdelve.api.live import LiveRuns
from deepdelve.api.server import create_app
from deepdelve.core.requests import RunRequest
from deepdelve.engine.bounded.service import VaultService
from tests.api.kit import api_settings
from tests.engine.bounded.kit import Bench


class Instant(VaultService):
    """Enters runs and lets none begin: what is tested here is the surface."""

    async def start(self, topic: str, **wanted: object) -> str:
        run_id = await super().start(topic, **wanted)  # type: ignore[arg-type]
        await self.cancel(run_id)
        return run_id


class Accepting(LiveRuns):
    """Accepts runs and begins none."""

    async def start(self, request: RunRequest) -> str:
        return "20260101_000000_abcdef"


def test_every_answer_fits_the_description() -> None:
    chosen = api_settings()
    made = Bench(settings=chosen)
    schema = from_asgi("/openapi.json", create_app(chosen, Instant(chosen, made.database), Accepting(chosen)))
    tried: list[str] = []
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(max_examples=6, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def call(case: schemathesis.Case) -> None:
            case.call_and_validate()

        call()
        tried.append(operation.path)
    assert len(tried) == 17
    made.close()
