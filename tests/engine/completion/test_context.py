"""The prepared context: what is in it, that it leaves the state alone, and that a whole attempt is quick and linear."""

from hypothesis import given, settings
from hypothesis import strategies as st

from deepdelve.core.records import Claim
from deepdelve.engine.completion.context import CheckContext, prepare
from deepdelve.engine.completion.directives import render
from deepdelve.engine.completion.gaps import gap_sentence
from deepdelve.engine.completion.table import evaluate
from deepdelve.engine.completion.verdict import Gap
from deepdelve.utils.run_state import RunState
from tests.engine.completion.states import claim, context_of, finding, good_state, log, source, state_of, task
from tests.support.patience import in_proportion


class TestPrepare:
    def test_it_reads_the_state_and_leaves_it_alone(self) -> None:
        state = good_state()
        before = state.model_dump_json()
        context_of(state)
        assert state.model_dump_json() == before

    def test_missing_drafts_are_not_written(self) -> None:
        ctx = prepare(good_state(), {})
        assert not ctx.report.exists
        assert not ctx.findings.exists

    def test_firings_of_all_processes_are_counted(self) -> None:
        state = good_state()
        state.attempts_log = log("no_urls", "", "no_urls")
        assert context_of(state).fired == {"no_urls": 2}

    def test_a_source_that_only_flagged_findings_speak_of_is_flagged(self) -> None:
        from deepdelve.core.records import Flag

        flag = Flag(kind="quote")
        state = good_state(findings=[finding(1, "S1", "a", flags=[flag]), finding(2, "S1", "a"), finding(3, "S2", "a", flags=[flag])])
        assert context_of(state).flagged_ids == {"S2"}

    def test_findings_without_a_source_flag_nothing(self) -> None:
        from deepdelve.core.records import Flag

        state = good_state(findings=[finding(1, "", "rent levels", flags=[Flag(kind="no_source")])])
        assert context_of(state).flagged_ids == frozenset()

    def test_a_queued_or_refused_task_is_no_dispatch(self) -> None:
        state = state_of(tasks=[task("a", state="queued"), task("b", state="refused")])
        assert not prepare(state, {}).dispatched


class TestGaps:
    def test_a_task_without_evidence_leaves_its_facet_open(self) -> None:
        state = good_state(tasks=[task("rent levels"), task("trams", state="failed", facet="tram lines")])
        assert context_of(state).gaps == (Gap("tram lines"),)

    def test_not_where_another_task_covers_the_facet(self) -> None:
        state = good_state(tasks=[task("rent levels"), task("more", state="failed", facet="rent levels", instructions="Costs of Kallio")])
        assert context_of(state).gaps == ()

    def test_gap_sentences_of_the_findings_are_gaps_with_their_question(self) -> None:
        text = f"## rent\n\n- 900 EUR [S1]\n- {gap_sentence('rent in Kallio')}\n- {gap_sentence('rent in Vallila')}\n"
        assert context_of(good_state(), findings=text).gaps == (Gap("rent", ("rent in Kallio", "rent in Vallila")),)

    def test_an_acknowledged_gap_still_has_to_be_disclosed(self) -> None:
        state = good_state(tasks=[task("rent levels"), task("trams", state="failed")])
        state.task_ledger = {"trams": {"gap_acknowledged": True}}
        assert context_of(state).gaps == (Gap("trams"),)


def big(words: int, sources: int = 200) -> tuple[RunState, str, list[Claim]]:
    ids = [f"S{n}" for n in range(1, sources + 1)]
    tasks = [task(f"facet {n} of Town{n}", instructions=f"Find the rent in Town{n}") for n in range(40)]
    found = [finding(n, i, tasks[n % 40].name, f"Town{n} has {n} homes") for n, i in enumerate(ids)]
    state = good_state(sources=[source(i) for i in ids], tasks=tasks, findings=found, plan=[t.name for t in tasks])
    lines = [
        f"In district {n} of Town{n % 40} the rent of a flat rose to {n} EUR after the tram was built [{ids[n % sources]}]."
        for n in range(words // 18)
    ]
    sections = ["\n\n".join([f"## Part {n}", " ".join(lines[n : n + 25])]) for n in range(0, len(lines), 25)]
    return state, "# Towns\n\n" + "\n\n".join(sections) + "\n", [claim(line, citations=("S1",)) for line in lines]


class TestSpeed:
    def test_an_attempt_grows_in_proportion(self) -> None:
        def attempt(words: range) -> None:
            state, report, claims = big(len(words))
            evaluate(prepare(state, {"findings": report, "final_report": report}, claims))

        in_proportion(attempt, range(20_000))

    def test_hostile_drafts_do_too(self) -> None:
        pieces = [
            "(Aa ",
            "no a-b ",
            "[S1",
            "| ",
            ", ",
            "** ",
            "[insert ",
            "# \n",
            "not a ",
            "Source: ",
            "[S1][S1] ",
            "。",
            "and ",
            "X" * 9,
            "{{",
            "<insert ",
        ]
        state = good_state()
        for piece in pieces:
            in_proportion(
                lambda text: evaluate(prepare(state, {"findings": text, "final_report": text}, [claim(text[:2_000])])),
                piece * (16_000 // len(piece)),
            )


class TestAnyDraft:
    @given(st.text(alphabet=st.sampled_from("aZ .,;:!?#*|-[]()S1239\n\"'`>_€%。，租金"), max_size=600), st.text(max_size=200))
    @settings(max_examples=150, deadline=None)
    def test_whatever_a_person_or_a_model_left_there_is_judged_without_an_error(self, report: str, findings: str) -> None:
        found = evaluate(context_of(good_state(), report, findings))
        assert ("missing_artifact" in found) == (not report.strip())
        for verdict in found.values():
            assert render(verdict, "Builder")
            assert "\n" not in render(verdict, "person")

    def test_thousands_of_citations(self) -> None:
        text = "# T\n\n" + " ".join(f"Fact {n} holds [S{n}]." for n in range(1, 5_001))
        found = evaluate(context_of(good_state(), text))
        assert len(found["unresolved_citation"].facts.source_ids) == 4_998
        assert len(render(found["unresolved_citation"], "Builder")) < 4_000


def test_the_context_is_frozen() -> None:
    ctx = context_of(good_state())
    assert isinstance(ctx, CheckContext)
    try:
        ctx.question = "other"  # type: ignore[misc]
    except AttributeError:
        return
    raise AssertionError("the context could be changed")
