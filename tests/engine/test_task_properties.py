"""What holds for any tasks, names and drafts, whatever a model makes of them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from deepdelve.core.records import Flag, PlanItem, Task
from deepdelve.engine.delegation_rules import Asker, Limits, Request, judge
from deepdelve.engine.evidence import evidence, is_evidence, sources_by_facet
from deepdelve.engine.subjects import same_matter, same_task, subject_words, subjects
from deepdelve.engine.task_ledger import acknowledge, coverage, recompute, sources_by_task
from deepdelve.engine.writing.salvage import best_snapshot, narrated_report
from deepdelve.utils.run_state import RunState
from deepdelve.utils.words import count_words
from tests.engine.completion.states import finding, source, state_of, task

TOPICS = [
    "Find the rent of a flat in Oslo",
    "Search for the monthly rent of an apartment in Oslo",
    "Find the rent of a flat in Bergen",
    "Trams of Turku in 2020",
    "Trams of Turku in 2024",
    "wool prices",
    "",
]
texts = st.text(max_size=120)
names = st.text(alphabet="abcXYZ 12éß租金`<>\n", max_size=20)
flags = st.sampled_from([None, Flag(kind="quote"), Flag(kind="stub_source", urls=("https://site1.example/page",))])


@st.composite
def states(draw: st.DrawFn) -> RunState:
    tasks = [
        task(
            f"t{n}",
            instructions=draw(st.sampled_from(TOPICS)),
            state=draw(st.sampled_from(["queued", "running", "done", "failed", "refused"])),
        )
        for n in range(draw(st.integers(0, 6)))
    ]
    sources = [source(f"S{n}", state=draw(st.sampled_from(["ok", "ok", "stub"]))) for n in range(3)]
    found = [
        finding(
            n,
            f"S{draw(st.integers(0, 4))}",
            draw(st.sampled_from([t.name for t in tasks] or ["none"])),
            flags=[f] if (f := draw(flags)) else [],
        )
        for n in range(draw(st.integers(0, 8)))
    ]
    state = state_of(sources, tasks, found)
    state.task_ledger = {t.name: {"gap_acknowledged": True} for t in tasks if draw(st.booleans())}
    return state


class TestRenameTest:
    @given(texts, texts, texts, texts)
    @settings(max_examples=150, deadline=None)
    def test_it_does_not_matter_which_comes_first(self, one: str, other: str, first: str, second: str) -> None:
        left, right = PlanItem(name=one, instructions=first), PlanItem(name=other, instructions=second)
        assert same_task(left, right) == same_task(right, left)

    @given(texts, texts)
    @settings(max_examples=150, deadline=None)
    def test_a_task_is_itself_under_any_name(self, name: str, text: str) -> None:
        assert same_task(PlanItem(name=name, instructions=text), PlanItem(name=name, instructions=text))
        assert same_matter(text, text)

    @given(texts)
    def test_any_text_has_subjects_and_words_or_none(self, text: str) -> None:
        assert all(subject.strip() for subject in subjects(text))
        assert all(subject_words(text))


class TestDelegation:
    @given(
        st.lists(st.builds(Request, name=names, instructions=texts, role=names, source_ids=st.tuples(names)), max_size=6), st.integers(0, 4)
    )
    @settings(max_examples=150, deadline=None)
    def test_every_request_gets_an_answer_in_its_place_and_caps_hold(self, asked: list[Request], cap: int) -> None:
        judged = judge(asked, Asker(), Limits(round_cap=cap))
        assert [item.request for item in judged] == asked
        assert sum(item.refusal is None for item in judged) <= cap
        for item in judged:
            assert item.refusal is None or ("\n" not in item.refusal.reason and item.refusal.reason)

    @given(st.lists(st.sampled_from(TOPICS[:-1]), max_size=6))
    @settings(max_examples=100, deadline=None)
    def test_what_is_accepted_names_different_things(self, topics: list[str]) -> None:
        judged = judge([Request(f"task {chr(97 + n)}", text) for n, text in enumerate(topics)], Asker(), Limits())
        taken = [item.request for item in judged if item.refusal is None]
        assert not any(same_task(one, two) for n, one in enumerate(taken) for two in taken[n + 1 :])


class TestLedger:
    @given(states())
    @settings(max_examples=150, deadline=None)
    def test_verified_means_evidence_and_evidence_means_verified(self, state: RunState) -> None:
        carried = sources_by_task(state)
        for name, entry in recompute(state).items():
            assert (entry["status"] == "verified") == (name in carried)
            assert (entry["status"] == "superseded") == bool(entry["by"])
            assert entry["status"] == "verified" or entry["reason"]

    @given(states())
    @settings(max_examples=150, deadline=None)
    def test_what_supersedes_is_another_task_of_the_run_and_never_in_a_circle(self, state: RunState) -> None:
        entries = recompute(state)
        for name in entries:
            seen = {name}
            step = entries[name]["by"]
            while step:
                assert step in state.tasks
                assert step not in seen
                seen.add(step)
                step = entries.get(step, {}).get("by", "")

    @given(states())
    @settings(max_examples=150, deadline=None)
    def test_acknowledgement_outlives_any_number_of_recomputations(self, state: RunState) -> None:
        before = {name for name, entry in state.task_ledger.items() if entry["gap_acknowledged"]}
        for _ in range(2):
            state.task_ledger = recompute(state)
        after = {name for name, entry in state.task_ledger.items() if entry["gap_acknowledged"]}
        assert after == before & set(state.task_ledger)
        assert set(acknowledge(state.task_ledger, state.tasks)) == set(state.task_ledger)

    @given(states())
    @settings(max_examples=150, deadline=None)
    def test_coverage_counts_each_task_once_and_superseded_ones_never(self, state: RunState) -> None:
        found = coverage(state)
        counted = [*found.covered, *found.uncovered]
        gone = {name for name, entry in recompute(state).items() if entry["status"] == "superseded"}
        assert len(counted) == len(set(counted)) <= len(state.tasks)
        assert not gone & set(counted)
        assert set(found.covered) == set(sources_by_task(state)) & set(state.tasks)

    @given(states())
    @settings(max_examples=150, deadline=None)
    def test_evidence_is_citable_and_unflagged_by_its_own_account(self, state: RunState) -> None:
        for item in evidence(state):
            assert is_evidence(item, state)
            assert state.sources[item.source_id].citable
            assert not any(flag.kind == "quote" for flag in item.flags)
        assert {i for ids in sources_by_facet(state).values() for i in ids} == {f.source_id for f in evidence(state)}


class TestSalvage:
    @given(
        st.dictionaries(
            st.integers(1, 200).map(lambda n: f"final_report_{n}.md"), st.integers(0, 60).map(lambda n: "word " * n), max_size=8
        )
    )
    @settings(max_examples=150, deadline=None)
    def test_the_newest_that_is_long_enough(self, drafts: dict[str, str]) -> None:
        best = best_snapshot(drafts)
        lengths = {int(name.split("_")[2][:-3]): count_words(text) for name, text in drafts.items()}
        fit = [number for number, length in lengths.items() if length and 2 * length >= max(lengths.values())]
        assert best == (f"final_report_{max(fit)}.md" if fit else None)

    @given(texts)
    def test_any_reply_is_a_report_or_none(self, reply: str) -> None:
        assert narrated_report(reply) is None


def test_a_task_record_is_what_the_rename_test_takes() -> None:
    item = PlanItem(name="rents", instructions=TOPICS[0])
    assert same_task(item, Task(name="again", instructions=TOPICS[1]))
