"""``/vault-…`` in the app, over a scripted bounded run."""

from types import SimpleNamespace
from typing import Any

import pytest

from deepdelve.engine import vaults
from deepdelve.engine.backends.doctor import Finding
from deepdelve.engine.bounded.service import VaultService
from deepdelve.engine.vault.lint import LintReport, Problem
from tests.engine.bounded.kit import TOPIC, ScriptedModel, bench

from .fake_engine import FakeEngine
from .support import driven


def engine_with(**functions: Any) -> FakeEngine:
    """The fake engine, with vaults of which these functions are replaced."""
    made = FakeEngine()
    real = {name: getattr(vaults, name) for name in ("service", "vault_of", "line", "add", "check", "lint", "verify")}
    made.vaults = lambda: SimpleNamespace(**{**real, **functions})  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("sufficient", [True, False])
async def test_b08_research_shows_its_phases_and_where_the_page_is(sufficient: bool) -> None:
    model = ScriptedModel() if sufficient else ScriptedModel(synthesize="Nothing. [9]")
    with bench(model=model) as made:
        made.settings.search.searxng_url = "http://127.0.0.1:9"

        async def open_(settings: Any, vault: Any, database: Any, listener: Any) -> Any:
            from dataclasses import replace

            return replace(made.services(), listener=listener)

        engine = engine_with(service=lambda settings: VaultService(made.settings, made.database, open_))
        async with driven(engine) as d:
            await d.say(f"/vault-research {TOPIC}")
            await d.finished()
            said = "\n".join(d.notices)
        assert "round 1/3" in said
        assert "converged" in said
        assert ("In the vault: " in said) is sufficient
        assert ("may not enter the vault" in said) is not sufficient


async def test_research_without_a_topic_or_without_searxng_says_what_is_missing() -> None:
    async with driven(engine_with()) as d:
        await d.say("/vault-research")
        await d.say("/vault-research tides of the bay")
        said = "\n".join(d.notices)
    assert "Say what is to be found out" in said
    assert "SEARXNG_URL" in said


async def test_check_and_lint_say_what_they_find() -> None:
    async def check(settings: Any) -> list[Finding]:
        return [Finding("searxng", False, "It does not give JSON.", "Add json."), Finding("vault", True, "there")]

    problems = tuple(Problem("broken", "wiki/a.md", f"[[x{n}]] leads nowhere") for n in range(14))
    async with driven(engine_with(check=check, lint=lambda settings: LintReport(3, 20, problems))) as d:
        await d.say("/vault-check")
        await d.say("/vault-lint")
        said = "\n".join(d.notices)
    assert "✗ searxng: It does not give JSON. → Add json." in said
    assert "✓ vault: there" in said
    assert "3 pages, 20 links, 14 problems" in said
    assert "and 2 more" in said


async def test_add_lets_a_run_in() -> None:
    engine = engine_with(add=lambda run_id, settings: SimpleNamespace(status="completed", reason="", path=f"wiki/{run_id}.md"))
    engine.saved("20260101_000001_aaaaaa")
    async with driven(engine) as d:
        await d.say("/vault-add 20260101_000001_aaaaaa")
        assert any("Page: wiki/20260101_000001_aaaaaa.md" in line for line in d.notices)
