"""Faults of writers as whole runs: what a writer gives first, and what it gives once it is told what is wrong."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deepdelve.config import Settings
from tests.support.scripted import Rule, call, text
from tests.support.whole_run import (
    RIVERS,
    RIVERS_QUESTION,
    WholeRun,
    good_planner,
    good_rules,
    results,
    run_scripted,
    said,
    write_corpus,
)

ALDER = "## Alder\n\nThe Alder is 212 kilometres long [Alder]. Its source lies at 1,430 metres [Alder].\n\n"
BIRCH = "## Birch\n\nThe Birch is 98 kilometres long [Birch]. It was dammed in 1931 [Birch].\n\n"
REPORT = f"# Rivers\n\n{ALDER}{BIRCH}"
FINDINGS = "## Findings\n\n- The Alder is 212 kilometres long [Alder]\n- The Birch is 98 kilometres long [Birch]\n"
TOLD = "Whatever you change, this holds"


@dataclass(frozen=True)
class Fault:
    """A fault of one draft. ``[Alder]`` in a text stands for the id of the source with that word in its title.

    ``bad`` is what the writer gives first, ``good`` what it gives when it is told of the problem. ``seen`` says whether the
    fault stands in a delivered report.
    """

    problem: str
    bad: str
    good: str = REPORT
    writer: str = "Builder"
    documents: Mapping[str, str] = field(default_factory=lambda: RIVERS)
    tasks: tuple[tuple[str, str], ...] = (("river Alder", "How long is the river Alder?"), ("river Birch", "How long is the river Birch?"))
    question: str = RIVERS_QUESTION
    seen: Callable[[str], bool] = lambda report: False

    def rules(self, *, mends: bool) -> dict[Any, Rule]:
        """All roles do their job well, but the faulty writer, which mends its fault when it is told or never does."""
        return good_rules(Planner=good_planner(*self.tasks), **{self.writer: self._rule(mends)})

    def _rule(self, mends: bool) -> Rule:
        name = "final_report.md" if self.writer == "Builder" else "findings.md"
        ids: dict[str, str] = {}
        mended: list[str] = []

        def rule(messages: list[Any], options: dict[str, Any]) -> list[Any]:
            found = results(messages)
            told = _is_directive(said(messages))
            shown = said(messages) if self.writer == "FindingsWriter" else (found[0] if found else "")
            if self.writer == "Builder" and not found:
                return [call("read_workspace_file", name="findings.md")]
            if found[1 if self.writer == "Builder" else 0 :]:
                return text("Written.")
            ids.update(ids_of(shown, self.documents))
            if mends and told:
                mended.append(self.good)
            body = mended[-1] if mended else self.bad
            return [call("write_workspace_file", name=name, text=with_ids(body, ids))]

        return rule

    async def run(self, folder: Path, *, mends: bool, settings: Settings | None = None, **request: Any) -> WholeRun:
        """The whole run."""
        corpus = write_corpus(folder, self.documents)
        return await run_scripted(self.rules(mends=mends), corpus, question=self.question, settings=settings, **request)


def off(*switches: str, **more: Any) -> Settings:
    """Settings with these switched off."""
    return Settings.model_validate({"settings": {"ablation": dict.fromkeys(switches, True), **more}})


def _is_directive(message: str) -> bool:
    """Whether a writer is told to mend something: a first writing has question, parts and standing requirements alone."""
    head = message.split(TOLD)[0] if TOLD in message else ""
    parts = [part for part in head.split("\n\n") if part.strip() and not part.startswith(("Question:", "Parts of the question:"))]
    return bool(parts)


def ids_of(shown: str, documents: Mapping[str, str]) -> dict[str, str]:
    """Which id the source of each document has, from the lines that name it."""
    found: dict[str, str] = {}
    for name in documents:
        for pattern in (rf"\[(S\d+)\][^\n]*\b{name}\b", rf"\b{name}\b[^\n\[]*\[(S\d+)\]"):
            match = re.search(pattern, shown)
            if match and name not in found:
                found[name] = match.group(1)
    return found


def with_ids(body: str, ids: Mapping[str, str]) -> str:
    for name, source_id in ids.items():
        body = body.replace(f"[{name}]", f"[{source_id}]")
    return body


CEDAR = "# The Cedar\n\nThe Cedar is a river in the west. The Cedar is 77 kilometres long. The Alder is 305 kilometres long.\n"
BREAD = "# Sourdough bread\n\nSourdough bread rises for 12 hours in 3 bowls. The dough has 700 grams of flour.\n"
_LONG = (
    "The Alder is 212 kilometres long and flows through the north of the country past many towns and villages, "
    "with a source that lies at 1,430 metres above the sea"
)

FAULTS: tuple[Fault, ...] = (
    Fault("not_grounded", re.sub(r" \[\w+\]", "", REPORT), seen=lambda r: "[1]" not in r),
    Fault(
        "non_url_citation",
        REPORT.replace("1931 [Birch].", "1931 [Birch]. The river is much visited (Miller, 2019)."),
        seen=lambda r: "Miller" in r,
    ),
    Fault("unresolved_citation", REPORT.replace("metres [Alder]", "metres [Alder][S99]"), seen=lambda r: "S99" in r),
    Fault(
        "claim_unsupported",
        REPORT.replace("1931 [Birch].", "1931 [Birch]. Otters and salmon breed along its banks [Birch]."),
        seen=lambda r: "Otters" in r,
    ),
    Fault("figure_unsupported", REPORT.replace("212 kilometres", "912 kilometres"), seen=lambda r: "912" in r),
    Fault(
        "regulation_unsupported",
        REPORT.replace("1931 [Birch].", "1931 [Birch]. Regulation (EU) 2031/455 protects the Birch since 2004 [Birch]."),
        documents={**RIVERS, "Birch": RIVERS["Birch"] + "\nRegulation (EU) 2004/17 protects the Birch since 2004.\n"},
        seen=lambda r: "2031/455" in r,
    ),
    Fault(
        "quote_paraphrased",
        REPORT.replace("1931 [Birch].", "1931 [Birch]. It was called “the loveliest river of the whole wide south” [Birch]."),
        seen=lambda r: "loveliest" in r,
    ),
    Fault(
        "uncited_claims",
        REPORT.replace("metres [Alder].", "metres [Alder]. The Alder has 14 bridges and 3 locks."),
        seen=lambda r: "14 bridges" in r,
    ),
    Fault("report_underuses_evidence", f"# Rivers\n\n{ALDER}", seen=lambda r: "98 kilometres" not in r),
    Fault("placeholder_text", REPORT.replace("[Birch].\n\n", "[Birch]. [insert more detail here]\n\n"), seen=lambda r: "insert more" in r),
    Fault("truncated_ending", f"{REPORT.rstrip()}\n\nThe Birch was also known for the", seen=lambda r: "known for the" in r),
    Fault(
        "report_meta_language",
        REPORT.replace("1931 [Birch].", "1931 [Birch]. This follows from findings.md as the Searcher agent wrote it."),
        seen=lambda r: "findings.md" in r,
    ),
    Fault(
        "duplicate_report_sections",
        f"{REPORT}## Course\n\n{_LONG} [Alder].\n\n## Outlook\n\n{_LONG} [Alder].\n",
        seen=lambda r: "## Outlook" in r,
    ),
    Fault(
        "excluded_topic",
        f"{REPORT}## Dams\n\nThe Birch was dammed in 1931 [Birch].\n",
        good=f"# Rivers\n\n{ALDER}{BIRCH}".replace(" It was dammed in 1931 [Birch].", ""),
        question="How long are the rivers Alder and Birch, excluding dams?",
        seen=lambda r: "## Dams" in r,
    ),
    Fault(
        "requested_count_shortfall",
        REPORT,
        good=f"{REPORT}No source in the available evidence directly states: the other three of five rivers.\n",
        question="Name five rivers and how long they are",
        seen=lambda r: "the other three" not in r,
    ),
    Fault(
        "cross_source_contradiction",
        f"{REPORT}## Cedar\n\nThe Cedar is 77 kilometres long [Cedar].\n",
        good=f"{REPORT}## Cedar\n\nThe Cedar is 77 kilometres long [Cedar].\n\n"
        "The sources differ on the Alder: 212 kilometres long [Alder], whereas another says 305 kilometres long [Cedar].\n",
        documents={**RIVERS, "Cedar": CEDAR},
        tasks=(("river Alder", "length of the Alder"), ("river Birch", "length of the Birch"), ("river Cedar", "length of the Cedar")),
        question="How long are the rivers Alder, Birch and Cedar?",
        seen=lambda r: "305" not in r,
    ),
    Fault(
        "findings_ungrounded",
        f"{FINDINGS}- The Elm is 9 kilometres long [S77]\n",
        good=FINDINGS,
        writer="FindingsWriter",
        seen=lambda r: "S77" in r,
    ),
    Fault(
        "findings_underuses_evidence",
        "## Findings\n\n- The Alder is 212 kilometres long [Alder]\n",
        good=FINDINGS,
        writer="FindingsWriter",
        seen=lambda r: "98 kilometres" not in r,
    ),
)
