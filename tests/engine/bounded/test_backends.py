"""Bounded runs on real chat backends, against a model server on loopback."""

import pytest

from deepdelve.core.errors import BackendError
from deepdelve.engine.bounded.backends import open_provider
from deepdelve.engine.bounded.provider import UsageAccumulator
from tests.engine.backends.kit import settings_for
from tests.engine.bounded.kit import FACT, SECOND, bench
from tests.support.llm_replies import Reply
from tests.support.llm_server import LlmServer

SCRIPT = [
    Reply("northern bay tides\nbay water level"),
    Reply("<think>Hm.</think>SUFFICIENT"),
    Reply(f"# Tides\n\n{FACT} [1] {SECOND} [2]\n"),
]


@pytest.mark.parametrize("backend", ["openai", "ollama"])
async def test_a_whole_run_on_a_model_server(backend: str) -> None:
    with LlmServer({"": SCRIPT}) as server:
        settings = settings_for(server, backend=backend)
        opened = await open_provider(settings)
        with bench(settings=settings, model=opened.provider) as made:
            result = await made.run()
            row = made.ledger.get(result.run_id)
            await opened.close()
            assert (row.status, row.usage_estimated) == ("converged", False)
            assert row.tokens_in > 0
            assert made.pages()
        assert "<<<untrusted" in str([vars(seen) for seen in server.seen])


async def test_a_server_that_is_not_there_is_said_before_a_run() -> None:
    with pytest.raises(BackendError):
        await open_provider(settings_for(backend="openai", openai_base_url="http://127.0.0.1:9/v1"))


async def test_the_provider_reports_to_the_account_that_is_bound() -> None:
    opened = await open_provider(settings_for(backend="builtin"))
    account = UsageAccumulator()
    opened.provider.bind_accumulator(account)
    with bench(model=opened.provider) as made:
        result = await made.run("tides of the northern bay")
        assert result.status == "converged"
        assert made.ledger.get(result.run_id).usage_estimated
    assert (opened.endpoint, account.total_cost_usd) == ("builtin", 0)
