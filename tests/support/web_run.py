"""Whole runs over the web: the loopback site and SearXNG double, a scripted model, the real search, guard and fetcher."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deepdelve.config import Settings
from deepdelve.core.records import Role
from deepdelve.core.requests import RunRequest
from deepdelve.engine import conduct, prepare, setup
from tests.support.scripted import Rule, ScriptedFactory, call, text
from tests.support.searxng import FakeSearxng, result
from tests.support.web_site import WebSite
from tests.support.whole_run import RecordingSurface, WholeRun, good_planner, good_rules, results

QUESTION = "How high are the tides of the northern bay?"


def web_settings(searxng: FakeSearxng, **fetch: Any) -> Settings:
    """Settings that search the double and let the fetcher reach loopback."""
    settings = Settings()
    settings.search.searxng_url = searxng.url
    settings.fetch.allow_loopback = True
    for name, value in fetch.items():
        setattr(settings.fetch, name, value)
    return settings


def address(site: WebSite, path: str) -> str:
    """A page's address; its host is another than SearXNG's, whose own pages are never hits."""
    return site.url(path, "localhost")


def listed(site: WebSite, *paths: str) -> list[dict[str, Any]]:
    """Search results that lead to these pages; each snippet claims what no page says."""
    return [result(address(site, path), f"Tides of the bay {path}", "The tides of the bay are 99 metres high.") for path in paths]


async def run_web(
    rules: Mapping[Role, Rule],
    settings: Settings,
    *,
    question: str = QUESTION,
    change: Callable[[setup.Prepared], setup.Prepared] = lambda prepared: prepared,
    **request: Any,
) -> WholeRun:
    """Run a whole run to its end.

    ``change`` may replace parts of what was prepared.
    """
    made: list[ScriptedFactory] = []
    surface = RecordingSurface()

    async def choose(chosen: Settings, hooks: Any) -> tuple[ScriptedFactory, str]:
        made.append(ScriptedFactory(dict(rules), hooks=hooks))
        return made[0], "scripted"

    asked = RunRequest(question=question, **request)
    prepared = change(await prepare.prepare(asked, settings, choose))
    run = setup.new_run(asked, prepared, surface)
    ctx = setup.context_for(run, prepared, surface, auto_approve=True)
    try:
        ended = await asyncio.wait_for(conduct.conduct(ctx), 60)
    finally:
        await ctx.services.close()
    return WholeRun(ended, run, surface, made[0])


def fetching(*urls: str) -> Rule:
    """A Searcher that searches, fetches these addresses, has them read, and ends."""

    def rule(messages: list[Any], options: dict[str, Any]) -> Sequence[Any]:
        found = results(messages)
        if not found:
            return [call("web_search", query="tides of the northern bay")]
        if len(found) == 1:
            return [call("fetch_url_to_workspace", url=url) for url in urls]
        if len(found) == 1 + len(urls):
            return [call("delegate_tasks", tasks=[{"task_name": "read", "instructions": "How high are the tides?"}])]
        return text("Done.")

    return rule


def web_rules(*urls: str, **replaced: Rule) -> dict[Role, Rule]:
    """Good rules with one task whose Searcher fetches these addresses."""
    planner = good_planner(("tides", "How high are the tides of the northern bay?"))
    return good_rules(**{"Planner": planner, "Searcher": fetching(*urls), **replaced})
