"""Bounded vault research with an instant model and local servers, and a vault of five thousand pages.

``python -m benchmarks.bounded`` prints each figure beside its limit. Nothing beyond loopback is contacted.
"""

import asyncio
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

LIMITS = {
    "3 rounds of 12 pages, s over the servers' own time": 1.5,
    "3 rounds of 12 pages, MB over the base": 150.0,
    "ingest of a page into 5,000, ms": 150.0,
    "lint of 5,000 pages, s": 3.0,
    "links of a new page resolved among 5,000, ms": 20.0,
    "answer in source 20 of 30, rounds": 1.0,
}
PAGES = 5_000


async def rounds() -> dict[str, float]:
    """Three rounds of twelve pages over real sockets; the servers' own time is measured by asking for the same without the loop."""
    from deepdelve.tools.searxng import SearxngClient
    from tests.engine.bounded.kit import FACT, SECOND, Bench, ScriptedModel
    from tests.engine.bounded.test_search import web
    from tests.support.searxng import FakeSearxng, result
    from tests.support.web_site import WebSite

    body = "<html><body><article><h1>Tides {n}</h1>" + f"<p>{FACT} {SECOND}</p>" * 20
    async with WebSite() as site, FakeSearxng([]) as searxng:
        for n in range(36):
            address = site.add(f"/page{n}", body.replace("{n}", str(n))).replace("127.0.0.1", "localhost")
            searxng.corpus.append(result(address, f"alpha{n // 6}", ""))
        queries = [f"alpha{2 * n}\nalpha{2 * n + 1}" for n in range(3)]
        made = Bench(
            model=ScriptedModel(queries=queries, assess="INSUFFICIENT"), searxng=SearxngClient(searxng.url), fetcher=web(loopback=True)
        )
        alone = await _servers_alone(made.fetcher, [row["url"] for row in searxng.corpus])
        base = _megabytes()
        began = time.perf_counter()
        ended = await made.run(max_iter=3)
        spent = time.perf_counter() - began
        await made.searxng.close()
        await made.fetcher.close()
        made.close()
    assert (ended.sources_fetched, bool(ended.page_path)) == (30, True), ended
    names = list(LIMITS)
    return {names[0]: spent - alone, names[1]: _megabytes() - base}


async def _servers_alone(fetcher: Any, urls: list[str]) -> float:
    """Seconds for the same pages, fetched and read three at a time without a run around them."""
    gate = asyncio.Semaphore(3)

    async def one(url: str) -> None:
        async with gate:
            await fetcher.fetch(url)

    await fetcher.fetch(urls[0])
    began = time.perf_counter()
    await asyncio.gather(*(one(url) for url in urls))
    return time.perf_counter() - began


def vault() -> dict[str, float]:
    """A vault of five thousand pages with three links each: one more page, lint, and the links that it changes."""
    from deepdelve.engine.vault import lint, store
    from deepdelve.engine.vault.pages import names_of
    from deepdelve.engine.vault.store import PageRow
    from tests.engine.bounded.kit import Bench
    from tests.engine.vault.kit import BODY, Shelf

    shelf = Shelf(Bench())
    folder = shelf.vault.wiki / "synthesis"
    folder.mkdir(parents=True)
    head = "---\ntype: synthesis\ntitle: {title}\naliases: []\nsources: []\n---\n\n"
    with shelf.database.transaction() as session:
        for n in range(PAGES):
            title, targets = f"Page {n}", [f"Page {(n * 7 + k) % PAGES}" for k in range(2)] + ["Wanted page"]
            text = (
                head.replace("{title}", title)
                + "A sentence that is cited, and long enough to be one. [1] "
                + " ".join(f"[[{t}]]" for t in targets)
            )
            (folder / f"{title}.md").write_text(text)
            row = PageRow(f"id{n}", f"wiki/synthesis/{title}.md", title, "synthesis", "0", "A summary.", f"2026-01-01T{n:06}")
            session.add(
                store.Page(
                    id=row.id,
                    vault_id=shelf.vault.id,
                    **{k: getattr(row, k) for k in ("path", "title", "type", "generated_sha256", "summary", "updated_at")},
                )
            )
            session.flush()
            session.add_all(
                store.PageName(
                    page_id=row.id, vault_id=shelf.vault.id, level=name.level, name=name.name, slug=name.name.lower().replace(" ", "-")
                )
                for name in names_of(row.id, row.path, title, ())
            )
            session.add_all(
                store.Link(
                    page_id=row.id,
                    ordinal=k,
                    vault_id=shelf.vault.id,
                    target=t,
                    target_slug=t.lower().replace(" ", "-"),
                    alias="",
                    dangling=n % 100 > 0,
                )
                for k, t in enumerate(targets[: 3 if n % 100 == 0 else 2])
            )
    shelf.ingest("deep-research-0", "Warm", BODY)
    path = shelf.raw("deep-research-1", "New page", BODY.replace("4.2", "4.3"))
    began = time.perf_counter()
    shelf.seam().ingest_file(path)
    ingest = time.perf_counter() - began
    began = time.perf_counter()
    with shelf.database.transaction() as session:
        touched = store.relink(session, shelf.vault.id, ["wanted-page"])
    linked = time.perf_counter() - began
    assert touched == PAGES // 100
    began = time.perf_counter()
    report = lint.lint(shelf.vault)
    linted = time.perf_counter() - began
    assert report.pages > PAGES
    shelf.bench.close()
    names = list(LIMITS)
    return {names[2]: 1000 * ingest, names[3]: linted, names[4]: 1000 * linked}


async def needle() -> dict[str, float]:
    """The answer stands in source 20 of 30, in the middle of a long page."""
    from tests.engine.bounded.kit import FACT, Bench, ScriptedFetcher, ScriptedModel, ScriptedSearxng

    filler = "Gulls fly over the old harbour and nobody counts them at all. " * 160
    pages = {f"https://site{n}.example/": filler + (FACT if n == 19 else "") + filler for n in range(30)}

    def judge(messages: Any, context: Any) -> str:
        return "SUFFICIENT" if "4.2 metres" in str(messages) else "INSUFFICIENT"

    made = Bench(
        model=ScriptedModel(assess=judge), searxng=ScriptedSearxng(hits=lambda query: list(pages)), fetcher=ScriptedFetcher(pages=pages)
    )
    from dataclasses import replace

    from deepdelve.engine.bounded.bounds import frozen_bounds

    wide = replace(frozen_bounds(made.settings), max_fetch_per_iter=30)
    run_id = "00000000-0000-4000-8000-000000000020"
    made.ledger.insert(run_id, made.vault.id, "How high are the tides of the northern bay?", wide, {})
    ended = await made.run(run_id=run_id)
    made.close()
    assert ended.status == "converged", ended
    return {list(LIMITS)[5]: float(ended.iterations_used)}


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    figures: dict[str, float] = {}
    for part in (lambda: asyncio.run(rounds()), vault, lambda: asyncio.run(needle())):
        with tempfile.TemporaryDirectory() as home:
            os.environ["DEEPDELVE_HOME"] = str(Path(home, "home"))
            figures |= part()
    for name, figure in figures.items():
        print(f"{'ok ' if figure <= LIMITS[name] else 'OVER'} {figure:8.2f}  limit {LIMITS[name]:7.1f}  {name}")
    return 0 if all(figure <= LIMITS[name] for name, figure in figures.items()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
