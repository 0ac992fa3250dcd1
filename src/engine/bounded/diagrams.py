"""The diagrams of ``docs/``, made from the code: the tables, and the order of one bounded run."""

import inspect

import sqlalchemy as sa

from deepdelve.engine.bounded import deep_research as loop
from deepdelve.engine.bounded.bounds import CONCURRENCY, MIN_QUERIES
from deepdelve.engine.bounded.models import Base
from deepdelve.engine.bounded.provider import InferenceProvider
from deepdelve.engine.vault.seam import IngestSeam


def er_text() -> str:
    """The tables as a Mermaid entity diagram."""
    lines = ["erDiagram"]
    for table in Base.metadata.sorted_tables:
        lines.append(f"    {table.name} {{")
        lines += [f"        {_type(column)} {column.name}{_marks(column)}" for column in table.columns]
        lines.append("    }")
    for table in Base.metadata.sorted_tables:
        for key in sorted(table.foreign_keys, key=lambda key: key.parent.name):
            many = "|o--o{" if key.parent.nullable else "||--o{"
            lines.append(f"    {key.column.table.name} {many} {table.name} : {key.parent.name}")
    return "\n".join(lines) + "\n"


def sequence_text() -> str:
    """One bounded run as a Mermaid sequence diagram; the steps of a round are those of the loop's own source, in its order."""
    names = [loop._generate_queries, loop._search_searxng, loop._fetch_and_extract, loop._assess_sufficiency]  # pyright: ignore[reportPrivateUsage]
    source = inspect.getsource(loop._bounded_loop)  # pyright: ignore[reportPrivateUsage]
    round_steps = sorted(names[1:], key=lambda step: source.index(f"{step.__name__}("))
    conclude = [loop._synthesize, loop._ingest_synthesis]  # pyright: ignore[reportPrivateUsage]
    parties = {
        "R": loop.run_deep_research.__name__,
        "P": InferenceProvider.__name__,
        "S": "SearXNG",
        "W": "web pages",
        "V": _seam(),
        "L": "ledger",
    }
    asks = {
        "_search_searxng": ("S", f"queries, {MIN_QUERIES} or more (concurrency={CONCURRENCY})"),
        "_fetch_and_extract": ("W", f"each new address once (concurrency={CONCURRENCY})"),
        "_assess_sufficiency": ("P", "SUFFICIENT or INSUFFICIENT"),
    }
    lines = ["sequenceDiagram", "    actor C as caller", *(f"    participant {key} as {name}" for key, name in parties.items())]
    lines += ["    C->>R: topic, max_iter, token_budget", "    R->>L: row with frozen bounds", f"    R->>P: {names[0].__name__}"]
    lines += ["    loop range(1, max_iter + 1)", "        Note over R: bounded by max_iter", "        break total_tokens >= token_budget"]
    lines += ["            Note over R: budget_exhausted", "        end"]
    for step in round_steps:
        party, what = asks[step.__name__]
        lines += [f"        R->>{party}: {step.__name__}", f"        {party}-->>R: {what}", "        R->>L: rows as they happen"]
    lines += ["        alt sufficient", "            Note over R: converged, the loop ends", "        else insufficient and rounds left"]
    lines += [f"            R->>P: {names[0].__name__} (gaps)", "        end", "    end", "    opt a usable source"]
    lines += [f"        R->>P: {conclude[0].__name__}, once", "        Note over R: gate: citations, addresses, grounding"]
    lines += [f"        R->>V: {conclude[1].__name__}", "        V-->>R: page_id, completed or skipped", "    end"]
    lines += ["    R->>L: final status and total_cost_usd", "    R-->>C: DeepResearchResult"]
    return "\n".join(lines) + "\n"


def _seam() -> str:
    return IngestSeam.ingest_file.__name__


def _type(column: "sa.Column[object]") -> str:
    return type(column.type).__name__.lower()


def _marks(column: "sa.Column[object]") -> str:
    marks = [mark for mark, true in (("PK", column.primary_key), ("FK", bool(column.foreign_keys))) if true]
    return f" {', '.join(marks)}" if marks else ""
