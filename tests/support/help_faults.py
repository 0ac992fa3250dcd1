"""Faults that a pass or a remedy is there for, as whole runs: each is run with it on and with it off."""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.faults import BIRCH, FAULTS, FINDINGS, REPORT, Fault, ids_of, off, with_ids
from tests.support.incidents import THREE, THREE_ASKED, THREE_TASKS, finds_nothing_about, obeys, writes
from tests.support.scripted import Rule, call, text
from tests.support.whole_run import (
    RIVERS,
    RIVERS_QUESTION,
    WholeRun,
    good_analyzer,
    good_builder,
    good_planner,
    good_rules,
    good_searcher,
    results,
    run_scripted,
    said,
    write_corpus,
)

Rules = Callable[[], Mapping[Any, Rule]]


@dataclass(frozen=True)
class HelpFault:
    """What goes wrong, and the switch of what helps.

    ``rules`` makes the roles anew for each run; ``lost`` says what is delivered wrong, or missing, where nothing helps.
    """

    switch: str
    what: str
    rules: Rules
    lost: Callable[[WholeRun], bool]
    question: str = RIVERS_QUESTION
    documents: Mapping[str, str] = field(default_factory=lambda: RIVERS)
    others_off: tuple[str, ...] = ()
    depth: str = "standard"

    async def run(self, folder: Path, *, on: bool) -> WholeRun:
        """The whole run, with the pass or remedy on or off."""
        corpus = write_corpus(folder, self.documents)
        switches = self.others_off if on else (self.switch, *self.others_off)
        return await run_scripted(self.rules(), corpus, question=self.question, settings=off(*switches, depth=self.depth))


def _in_turn(*rules: Rule) -> Rule:
    """A role whose dispatches go by these rules in turn, and by the last one from then on."""
    left = list(rules)
    state: dict[str, Rule] = {}

    def rule(messages: list[Any], options: dict[str, Any]) -> list[Any]:
        if not results(messages):
            state["now"] = left.pop(0) if len(left) > 1 else left[0]
        return state["now"](messages, options)

    return rule


def _says(words: str) -> Rule:
    return lambda messages, options: text(words)


def _reports(body: str) -> Rule:
    """A Builder that gives this whole report as its answer, and writes no file."""

    def rule(messages: list[Any], options: dict[str, Any]) -> list[Any]:
        found = results(messages)
        return text(with_ids(body, ids_of(found[0], RIVERS))) if found else [call("read_workspace_file", name="findings.md")]

    return rule


def _keeps_to_itself(messages: list[Any], options: dict[str, Any]) -> list[Any]:
    """A Searcher that has nothing read."""
    reply = good_searcher(messages, options)
    return text("Fetched it.") if reply[0].type == "function_call" and reply[0].name == "delegate_tasks" else reply


def _objecting() -> Rule:
    """A reviewer that objects once, to the first report."""
    said_once = itertools.count()

    def rule(messages: list[Any], options: dict[str, Any]) -> list[Any]:
        objects = "final_report" in said(messages) and not next(said_once)
        issue = {"problem": "The report leaves the Birch out.", "quote": "", "fix": "Add how long the Birch is."}
        return text(json.dumps({"ok": not objects, "issues": [issue] if objects else []}))

    return rule


def _late_planner(rounds: int) -> Rule:
    """A Planner that talks for some rounds before it delegates."""
    talked = itertools.count()
    good = good_planner(("river Alder", "How long is the river Alder?"), ("river Birch", "How long is the river Birch?"))
    return lambda messages, options: text("I will plan.") if next(talked) < rounds else good(messages, options)


def _only_alder(messages: list[Any], options: dict[str, Any]) -> list[Any]:
    """An Analyzer that finds nothing in all but one task."""
    task = said(messages).split("Your task:")[1].split("\n")[0]
    return good_analyzer(messages, options) if "Alder" in task else text("The sources do not answer the task.")


def _beside_the_plan(messages: list[Any], options: dict[str, Any]) -> list[Any]:
    """A Planner that delegates more than its plan holds."""
    if results(messages):
        return text("Delegated.")
    tasks = [{"task_name": f"river {n}", "facet": f"river {n}", "instructions": f"How long is the river {n}?"} for n in RIVERS]
    planned = [{"name": "river Alder", "facet": "river Alder", "instructions": "How long is the river Alder?"}]
    return [call("write_plan", items=planned), call("delegate_tasks", tasks=tasks)]


def _one_task(messages: list[Any], options: dict[str, Any]) -> list[Any]:
    return good_planner(("river Alder", "How long is the river Alder?"))(messages, options)


def _fault(problem: str, *, mends: bool = True) -> Rules:
    fault = next(fault for fault in FAULTS if fault.problem == problem)
    return lambda: fault.rules(mends=mends)


def _lost(problem: str) -> Callable[[WholeRun], bool]:
    fault = next(fault for fault in FAULTS if fault.problem == problem)
    return lambda run: fault.seen(run.report)


def _not_verified(run: WholeRun) -> bool:
    return run.result.outcome != "verified"


def _without(words: str) -> Callable[[WholeRun], bool]:
    return lambda run: words not in run.report


def _other_facet_lost() -> Mapping[Any, Rule]:
    """Findings and report come with one river; the pass for the other one writes the file with that one alone."""
    only = FINDINGS.replace("- The Birch is 98 kilometres long [Birch]\n", "")
    bad = Fault(
        "findings_underuses_evidence", only, good="## Findings\n\n- The Birch is 98 kilometres long [Birch]\n", writer="FindingsWriter"
    )
    return bad.rules(mends=True)


_WRONG = REPORT.replace("212 kilometres", "912 kilometres")
_LONG_REPORT = REPORT + (
    "## Both\n\nThe Alder is a river in the north and is 212 kilometres long, with a source that lies at 1,430 metres [Alder]. "
    "The Birch is a river in the south; it is 98 kilometres long, and it was dammed in 1931 [Birch].\n"
)


def _written(body: str, shown: str) -> list[Any]:
    return [call("write_workspace_file", name="final_report.md", text=with_ids(body, ids_of(shown, RIVERS)))]


def _mends_when_anew() -> Rule:
    """A Builder that keeps to the draft that it finds, wrong as it is, and writes a right one where it is made to begin anew."""
    dispatches = itertools.count()
    mends = {"now": False}

    def rule(messages: list[Any], options: dict[str, Any]) -> list[Any]:
        found = results(messages)
        read = [call("read_workspace_file", name="findings.md"), call("read_workspace_file", name="final_report.md")]
        if not found:
            mends["now"] = next(dispatches) > 0
            return read if mends["now"] else read[:1]
        if len(found) > len(read[: 1 + mends["now"]]):
            return text("Written.")
        return _written(REPORT if mends["now"] and "912" not in found[1] else _WRONG, found[0])

    return rule


def _falls_silent() -> Rule:
    """A Builder that writes a wrong report, cannot mend it, and writes nothing any more once it is to begin anew."""
    wrong = _mends_when_anew()

    def rule(messages: list[Any], options: dict[str, Any]) -> list[Any]:
        reply = wrong(messages, options)
        anew = reply[0].type == "function_call" and "212 kilometres" in str(reply[0].arguments)
        return text("Done.") if anew else reply

    return rule


def _gaps(builder: Rule) -> Rules:
    return lambda: good_rules(Planner=good_planner(*THREE_TASKS), Analyzer=finds_nothing_about("Cedar"), Builder=builder)


PASSES: tuple[HelpFault, ...] = (
    HelpFault(
        "disable_pass_review",
        "a report that leaves a part out, which the reviewer sees",
        lambda: good_rules(Builder=_in_turn(writes(REPORT.replace(BIRCH, "")), writes(REPORT)), PeerReviewer=_objecting()),
        _without("98 kilometres"),
        others_off=(
            "disable_check_report_underuses_evidence",
            "disable_check_missing_query_facet",
            "disable_check_report_underuses_findings",
        ),
    ),
    HelpFault(
        "disable_pass_leftovers",
        "a Searcher that has no page read",
        lambda: good_rules(Searcher=_keeps_to_itself),
        _without("212 kilometres"),
    ),
    HelpFault(
        "disable_pass_rule_search",
        "a Searcher that only talks",
        lambda: good_rules(Searcher=_says("I know rivers well.")),
        _without("212 kilometres"),
    ),
    HelpFault(
        "disable_pass_question_as_task",
        "a Planner that only talks",
        lambda: good_rules(Planner=_says("I will plan.")),
        _without("kilometres long [1]"),
    ),
    HelpFault(
        "disable_pass_standing_gaps",
        "a part that no source answers",
        _gaps(obeys(good_builder)),
        lambda run: "undisclosed_evidence_gap" in {event.problem for event in run.surface.events if event.type == "check_verdict"},
        question=THREE_ASKED,
    ),
    HelpFault(
        "disable_pass_rebuild",
        "a report that is mended only when it is written anew",
        lambda: good_rules(Builder=_mends_when_anew()),
        _without("212 kilometres"),
    ),
    HelpFault(
        "disable_pass_narrated",
        "a Builder that gives the report as its answer",
        lambda: good_rules(Builder=_reports(_LONG_REPORT)),
        _without("## Both"),
        others_off=("disable_pass_report_by_code",),
    ),
    HelpFault(
        "disable_pass_restore",
        "a Builder that writes nothing any more once its draft is set aside",
        lambda: good_rules(Builder=_falls_silent()),
        _without("912 kilometres"),
        others_off=("disable_pass_report_by_code",),
    ),
    HelpFault(
        "disable_pass_hold_parts",
        "a pass on one part that loses the others",
        _other_facet_lost,
        _without("212 kilometres"),
        others_off=("disable_remedy_findings_entries",),
    ),
    HelpFault(
        "disable_pass_findings_by_code",
        "a FindingsWriter that never writes",
        lambda: good_rules(FindingsWriter=_says("Done.")),
        _not_verified,
    ),
    HelpFault(
        "disable_pass_report_by_code",
        "a Builder that never writes",
        lambda: good_rules(Builder=_says("Done.")),
        _without("212 kilometres"),
    ),
    HelpFault(
        "disable_pass_no_progress",
        "a Planner that delegates nothing new whenever it is asked again",
        lambda: good_rules(Planner=good_planner(*THREE_TASKS), Analyzer=_only_alder),
        lambda run: run.run.research_closed == "",
        question=THREE_ASKED,
        documents=THREE,
        depth="deep",
    ),
)

REMEDIES: tuple[HelpFault, ...] = (
    HelpFault(
        "disable_remedy_planner_nudge",
        "a Planner that delegates when it is told",
        lambda: good_rules(Planner=_late_planner(1)),
        _without("98 kilometres"),
        others_off=("disable_pass_question_as_task",),
    ),
    HelpFault(
        "disable_remedy_plan_note",
        "tasks that stand in no plan",
        lambda: good_rules(Planner=_beside_the_plan),
        lambda run: "river Birch" not in {item.name for item in run.run.state.plan},
    ),
    HelpFault(
        "disable_remedy_deepening",
        "a part of the question that no task covers",
        lambda: good_rules(Planner=_one_task, Searcher=good_searcher),
        _without("98 kilometres"),
        question="How long are these: Alder, Birch?",
    ),
    HelpFault(
        "disable_remedy_acknowledge_gap",
        "a part that no source answers",
        _gaps(obeys(good_builder)),
        lambda run: not run.run.state.task_ledger.get("river Cedar", {}).get("gap_acknowledged"),
        question=THREE_ASKED,
    ),
    HelpFault("disable_remedy_findings_writer", "findings with an invented source", _fault("findings_ungrounded"), _not_verified),
    HelpFault(
        "disable_remedy_findings_facets",
        "findings that leave a facet out",
        _fault("findings_underuses_evidence"),
        _lost("findings_underuses_evidence"),
        others_off=("disable_remedy_findings_entries",),
    ),
    HelpFault(
        "disable_remedy_findings_entries",
        "findings that go on leaving a facet out",
        _fault("findings_underuses_evidence", mends=False),
        _lost("findings_underuses_evidence"),
    ),
    HelpFault("disable_remedy_builder", "a wrong figure", _fault("figure_unsupported"), _lost("figure_unsupported")),
    HelpFault(
        "disable_remedy_builder_facets",
        "a report that leaves a facet out",
        _fault("report_underuses_evidence"),
        _lost("report_underuses_evidence"),
    ),
    HelpFault(
        "disable_remedy_report_by_code",
        "a Builder that never writes",
        lambda: good_rules(Builder=_says("Done.")),
        lambda run: run.result.claims.total == 0 or bool(run.result.problems),
    ),
    HelpFault(
        "disable_remedy_gap_section",
        "a Builder that never discloses a gap",
        _gaps(good_builder),
        _without("directly states: river Cedar"),
        question=THREE_ASKED,
    ),
    HelpFault(
        "disable_remedy_citation_repair",
        "a citation of no source, never mended",
        _fault("unresolved_citation", mends=False),
        _not_verified,
    ),
)
