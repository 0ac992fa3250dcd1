"""What once went wrong in systems of this kind, each as a whole run through the agents, named for what holds now."""

import re

import pytest

from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError
from deepdelve.engine.completion.gaps import gap_sentence
from deepdelve.engine.task_ledger import coverage
from tests.support.faults import REPORT, Fault, off
from tests.support.incidents import THREE_ASKED, THREE_TASKS, dispatches, finds_nothing_about, obeys, quick, told, winners, writes
from tests.support.scripted import call, text
from tests.support.whole_run import (
    RIVERS,
    good_analyzer,
    good_builder,
    good_findings_writer,
    good_planner,
    good_rules,
    results,
    run_scripted,
    said,
    write_corpus,
)


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


class TestGaps:
    async def test_a_first_report_that_discloses_the_gaps_it_is_told_of_spends_no_attempt_on_them(self, tmp_path):
        rules = good_rules(Planner=good_planner(*THREE_TASKS), Analyzer=finds_nothing_about("Cedar"), Builder=obeys(good_builder))
        run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question=THREE_ASKED)
        assert gap_sentence("river Cedar") in told(run, "Builder")[0]
        assert "undisclosed_evidence_gap" not in winners(run)
        assert "directly states: river Cedar" in run.report

    async def test_a_builder_that_never_discloses_is_relieved_by_code(self, tmp_path):
        rules = good_rules(Planner=good_planner(*THREE_TASKS), Analyzer=finds_nothing_about("Cedar"))
        run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question=THREE_ASKED)
        assert "directly states: river Cedar" in run.report
        assert [e.remedy for e in run.surface.of(ev.CheckVerdict) if e.problem == "undisclosed_evidence_gap"][-1] == "gap_section"

    async def test_without_being_told_first_it_costs_an_attempt(self, tmp_path):
        rules = good_rules(Planner=good_planner(*THREE_TASKS), Analyzer=finds_nothing_about("Cedar"), Builder=obeys(good_builder))
        settings = off("disable_pass_standing_gaps")
        run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question=THREE_ASKED, settings=settings)
        assert "undisclosed_evidence_gap" in winners(run)

    async def test_a_hollow_disclosure_is_no_disclosure(self, tmp_path):
        """The report said that "the findings file has a section on evidence gaps", and named none."""
        hollow = f"{REPORT}The findings file lists evidence gaps that could not be found.\n"
        rules = good_rules(Planner=good_planner(*THREE_TASKS), Analyzer=finds_nothing_about("Cedar"), Builder=writes(hollow))
        run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question=THREE_ASKED)
        assert "undisclosed_evidence_gap" in winners(run)
        assert "directly states: river Cedar" in run.report

    async def test_an_acknowledged_gap_is_not_forgotten_by_later_attempts(self, tmp_path):
        rules = good_rules(
            Planner=good_planner(*THREE_TASKS),
            Analyzer=finds_nothing_about("Cedar"),
            Builder=writes(REPORT.replace("212", "912"), REPORT.replace("1931", "1831"), REPORT),
        )
        run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question=THREE_ASKED, depth="deep")
        assert winners(run).count("task_verification_flagged") <= 2
        assert run.run.state.task_ledger["river Cedar"]["gap_acknowledged"]

    async def test_every_mending_is_told_the_gaps_again(self, tmp_path):
        """A fix for one problem rewrote the report, and the disclosure that an earlier fix had added was gone."""
        bad = writes(REPORT.replace("212", "912"), REPORT.replace("1931", "1831"), REPORT)
        rules = good_rules(Planner=good_planner(*THREE_TASKS), Analyzer=finds_nothing_about("Cedar"), Builder=bad)
        run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question=THREE_ASKED)
        assert len(told(run, "Builder")) >= 2
        assert all(gap_sentence("river Cedar") in message for message in told(run, "Builder"))
        assert "directly states: river Cedar" in run.report


class TestTasks:
    async def test_two_cities_of_one_template_are_two_tasks_and_the_empty_one_is_disclosed(self, tmp_path):
        rules = good_rules(Analyzer=finds_nothing_about("Birch"))
        run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS))
        assert {t.name for t in run.run.state.top_tasks()} >= {"river Alder", "river Birch"}
        assert run.run.state.task_ledger["river Birch"]["status"] == "flagged"
        assert "directly states: river Birch" in run.report

    async def test_a_retry_in_other_words_is_refused_visibly_or_takes_the_place_of_the_first(self, tmp_path):
        """Renames were new tasks: coverage grew thinner with each try, and each try ended the other's streak."""
        names = iter(["length of Cedar", "Cedar river: how long", "the Cedar, length in kilometres", "Cedar length again"])

        def planner(messages, options):
            turn = sum(str(m.role) == "user" for m in messages)
            if len(results(messages)) >= 2 * turn:
                return text("Done.")
            if not results(messages):
                return good_planner(*THREE_TASKS)(messages, options)
            name = next(names, "")
            return (
                [call("delegate_tasks", tasks=[{"task_name": name, "instructions": "How long is the river Cedar?"}])]
                if name
                else text("Done.")
            )

        rules = good_rules(Planner=planner, Analyzer=finds_nothing_about("Cedar"), Builder=obeys(good_builder))
        run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question=THREE_ASKED, depth="deep")
        reached = coverage(run.run.state)
        assert set(reached.covered) == {"river Alder", "river Birch"}
        assert reached.total == 3
        assert winners(run).count("task_verification_flagged") <= 3
        assert winners(run).count("untracked_delegation") <= 1
        assert "212 kilometres" in run.report

    async def test_what_deeper_dispatches_found_counts_for_the_task_they_worked_for(self, rivers):
        run = await run_scripted(good_rules(), rivers)
        assert {f.task for f in run.run.state.findings.values()} == {"read for river Alder", "read for river Birch"}
        assert {entry["status"] for entry in run.run.state.task_ledger.values()} == {"verified"}
        assert len(run.run.state.top_tasks()) == 2

    async def test_a_page_is_counted_once_however_often_its_claim_is_found(self, rivers):
        """FAULTS 60: 54 "grounded" claims were shown for 18."""

        def doubled(messages, options):
            reply = good_analyzer(messages, options)
            return text(f"{reply[0].text}\n{reply[0].text}\n{reply[0].text}") if reply[0].type == "text" else reply

        run = await run_scripted(good_rules(Analyzer=doubled), rivers)
        assert run.result.claims.total == 4
        assert run.report.startswith("> Verified. 4 of 4 claims supported.")
        assert len({line for line in told(run, "FindingsWriter")[0].splitlines() if "212" in line}) == 1


class TestEvidence:
    async def test_a_doubtful_claim_hides_no_true_one_beside_it_and_its_flag_is_seen_by_no_writer(self, rivers):
        def mixed(messages, options):
            reply = good_analyzer(messages, options)
            if reply[0].type != "text":
                return reply
            source = re.search(r"\[(S\d+)\]", reply[0].text)
            return text(f'{reply[0].text}\n- The river is toxic to all fish [{source.group(1)}] "never said anywhere"') if source else reply

        run = await run_scripted(good_rules(Analyzer=mixed), rivers)
        assert run.result.outcome == "verified"
        assert "toxic" not in run.report
        flags = {flag.kind for f in run.run.state.findings.values() for flag in f.flags}
        assert flags == {"claim_unsupported"}
        for message in told(run, "FindingsWriter"):
            assert "claim_unsupported" not in message
            assert "toxic" not in message

    async def test_leads_are_followed_or_left_and_never_cited(self, rivers):
        def leading(messages, options):
            reply = good_analyzer(messages, options)
            lead = "\n\nFOLLOW-UP DIRECTIONS:\n- https://never-fetched.example/alder\n- the archive of the water board"
            return text(reply[0].text + lead) if reply[0].type == "text" else reply

        run = await run_scripted(good_rules(Analyzer=leading), rivers)
        assert run.result.outcome == "verified"
        assert any(f.kind == "lead" for f in run.run.state.findings.values())
        assert "never-fetched" not in run.report + "".join(told(run, "FindingsWriter"))

    async def test_an_analyzer_that_calls_tools_and_says_nothing_is_nudged_and_its_sources_are_used(self, rivers):
        def silent_once(messages, options):
            if not results(messages) or sum(str(m.role) == "user" for m in messages) > 1:
                return good_analyzer(messages, options)
            raise BackendError("The model answered with nothing.", cause="empty")

        run = await run_scripted(good_rules(Analyzer=silent_once), rivers)
        assert run.result.outcome == "verified"
        assert run.result.claims.supported == 4

    @pytest.mark.parametrize("rest", ["", "\n", "\n- The river is", '\n- The river is 3 metres deep [S1] "The river is 3 met'])
    async def test_what_a_broken_off_analyzer_had_found_comes_back_whole(self, rivers, rest):
        """FAULTS 46. A line that the reply broke off in is left out; a last line that is whole is not."""

        def cut(messages, options):
            reply = good_analyzer(messages, options)
            if reply[0].type != "text":
                return reply
            raise BackendError("The stream was cut.", cause="bad_request", partial=f"{reply[0].text}{rest}")

        run = await run_scripted(good_rules(Analyzer=cut), rivers)
        assert (run.result.claims.supported, run.result.claims.total) == (4, 4)
        assert "212 kilometres" in run.report
        assert not [f for f in run.run.state.findings.values() if f.flags]

    async def test_the_evidence_in_a_writers_first_message_is_never_compacted_away(self, tmp_path):
        docs = {
            name: f"# The {name}\n\n" + "".join(f"The {name} has {n} locks at kilometre {n}. " for n in range(1, 90)) for name in RIVERS
        }
        seen = []

        def thinks_long(messages, options):
            seen.append("The evidence:" in said(messages))
            if len(results(messages)) < 3:
                return [call("think", thought="word " * 2_000 + str(len(results(messages))))]
            return good_findings_writer(messages[:1] + messages[7:], options)

        settings = quick(num_ctx=2_048)
        await run_scripted(good_rules(FindingsWriter=thinks_long), write_corpus(tmp_path / "c", docs), settings=settings)
        assert len(seen) >= 4
        assert all(seen)


class TestWriters:
    async def test_facets_lost_together_are_brought_back_one_by_one(self, tmp_path):
        """Asked to bring all of them back at once, a writer lost the harder one whole."""
        names = ("Cedar", "Dogwood")
        documents = {**RIVERS, **{name: f"# The {name}\n\nThe {name} is a river. The {name} is 77 kilometres long.\n" for name in names}}
        whole = REPORT + "".join(f"## {name}\n\nThe {name} is 77 kilometres long [{name}].\n\n" for name in names)
        tasks = tuple((f"river {name}", f"How long is the river {name}?") for name in documents)
        asked = "How long are the rivers of the region?"
        fault = Fault("report_underuses_evidence", REPORT, good=whole, documents=documents, tasks=tasks, question=asked)
        run = await fault.run(tmp_path / "c", mends=True)
        fixes = [message for message in told(run, "Builder") if "This time mend the facet" in message]
        facets = [re.search("mend the facet '([^']+)'", message).group(1) for message in fixes]
        assert list(dict.fromkeys(facets)) == ["river Cedar", "river Dogwood"]
        assert run.result.outcome == "verified"

    async def test_a_findings_fix_for_one_facet_is_steered_to_an_edit_and_keeps_the_others(self, rivers):
        """The gate told a writer that wanted to read first to write the file anew, and other facets were lost."""
        refusals = []

        def writer(messages, options):
            found = results(messages)
            if "findings.md now:" not in said(messages):
                whole = good_findings_writer(messages, options)
                if whole[0].type == "function_call":
                    body = "\n".join(
                        line for line in whole[0].parse_arguments()["text"].splitlines() if "Birch" not in line and "1931" not in line
                    )
                    return [call("write_workspace_file", name="findings.md", text=body)]
                return whole
            if not found:
                return [call("read_workspace_file", name="findings.md")]
            if len(found) == 1:
                refusals.append(found[0])
                birch = re.search(r"\[(S\d+)\]", said(messages).split("The evidence:")[1]).group(1)
                return [
                    call(
                        "edit_workspace_file",
                        name="findings.md",
                        old_text="## Findings",
                        new_text=f"## Findings\n\n- The Birch is 98 kilometres long [{birch}]",
                    )
                ]
            return text("Edited.")

        run = await run_scripted(good_rules(FindingsWriter=writer), rivers)
        assert "edit_workspace_file" in refusals[0]
        kept = run.run.read_file("draft/findings.md")
        assert "212 kilometres" in kept
        assert "98 kilometres" in kept
        assert not [e for e in run.surface.of(ev.ArtifactRejected) if e.artifact == "findings"]

    @pytest.mark.parametrize("role", ["FindingsWriter", "Builder"])
    async def test_a_writer_that_stops_without_writing_is_sent_again_with_everything(self, rivers, role):
        silent = {"left": 2}
        good = {"FindingsWriter": good_findings_writer, "Builder": good_builder}[role]

        def stops(messages, options):
            if not results(messages) and silent["left"]:
                silent["left"] -= 1
                return text("I will write it.")
            return good(messages, options)

        run = await run_scripted(good_rules(**{role: stops}), rivers)
        assert run.result.outcome == "verified"
        assert len(dispatches(run, role)) == 3
        assert all(told(run, role)[0] in message for message in told(run, role)[1:])

    async def test_the_same_bad_id_is_named_so_that_it_is_not_cited_again(self, tmp_path):
        from tests.support.faults import FAULTS

        fault = next(fault for fault in FAULTS if fault.problem == "findings_ungrounded")
        run = await fault.run(tmp_path / "c", mends=True)
        assert "S77" in told(run, "FindingsWriter")[1]

    async def test_a_builder_that_gives_the_same_text_is_told_so_once_a_pass(self, tmp_path):
        fault = Fault("figure_unsupported", REPORT.replace("212", "912"))
        run = await fault.run(tmp_path / "c", mends=False)
        unchanged = [message for message in told(run, "Builder") if "unchanged, to the letter" in message]
        assert 1 <= len(unchanged) <= 3
        assert len(dispatches(run, "Builder")) <= 8

    async def test_a_builder_that_never_writes_ends_labelled_with_the_findings_as_the_report(self, rivers):
        run = await run_scripted(good_rules(Builder=lambda m, o: text("Done.")), rivers)
        assert (run.result.outcome, run.result.exit) == ("partial", 3)
        assert winners(run) == ["missing_artifact", "missing_artifact"]
        assert "212 kilometres" in run.report
        assert "98 kilometres" in run.report
        assert run.report.startswith("> Partial. 4 of 4 claims supported.")
        assert "No writer finished a report" in run.report
        # Two passes of three tries; then it is not asked again.
        assert len(dispatches(run, "Builder")) == 6

    async def test_a_builder_that_never_writes_is_not_asked_to_mend_the_report_of_code(self, tmp_path):
        rules = good_rules(Planner=good_planner(*THREE_TASKS), Analyzer=finds_nothing_about("Cedar"), Builder=lambda m, o: text("Done."))
        run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question=THREE_ASKED)
        assert (run.result.outcome, run.result.exit) == ("partial", 3)
        assert "directly states: river Cedar" in run.report
        assert len(dispatches(run, "Builder")) == 6

    async def test_a_builder_that_writes_late_is_heard(self, rivers):
        """Only one that never wrote is given up."""
        silent = iter(range(4))

        def late(messages, options):
            if not results(messages) and next(silent, None) is not None:
                return text("I will write it.")
            return good_builder(messages, options)

        run = await run_scripted(good_rules(Builder=late), rivers)
        assert run.result.outcome == "verified"
        assert winners(run) == ["missing_artifact"]

    async def test_a_report_by_code_holds_the_evidence_that_the_findings_left_out(self, rivers):
        """A writer that thinned out the findings, and one that writes no report: no page's evidence is lost unsaid."""

        def thin(messages, options):
            reply = good_findings_writer(messages, options)
            if reply[0].type == "text":
                return reply
            body = [line for line in reply[0].parse_arguments()["text"].splitlines() if "Birch" not in line and "1931" not in line]
            return [call("write_workspace_file", name="findings.md", text="\n".join(body))]

        run = await run_scripted(good_rules(FindingsWriter=thin, Builder=lambda m, o: text("Done.")), rivers, depth="quick")
        assert (run.result.outcome, run.result.exit) == ("partial", 3)
        assert len(run.result.citations) == 2
        assert "98 kilometres" in run.report
        assert run.report.count("212 kilometres") == 1

    async def test_an_empty_template_is_never_restored_over_a_real_draft(self, rivers):
        """The last rejected draft was a bare heading, and it was what the reader got."""
        bare = "# Rivers\n\n## Alder\n\n## Birch\n"
        run = await run_scripted(good_rules(Builder=writes(re.sub(r" \[\w+\]", "", REPORT), bare)), rivers)
        assert "212 kilometres" in run.report
        assert run.result.outcome == "unverified"

    async def test_no_writer_is_told_a_citation_form_that_the_style_contradicts(self, rivers):
        for style in ("standard", "academic", "answer"):
            run = await run_scripted(good_rules(), rivers, style=style)
            builder = next(c for c in run.factory.calls if c.role == "Builder")
            words = builder.instructions + said(builder.messages)
            assert "[S3]" in words
            assert "(Author, Year)" not in words
            assert run.result.claims.supported == 4

    async def test_text_of_a_draft_that_was_rejected_for_its_grounding_does_not_come_back(self, rivers):
        loose = re.sub(r" \[\w+\]", "", REPORT) + "\nMillions of herons nest along the upper course of both rivers.\n"
        again = f"{REPORT}Millions of herons nest along the upper course of both rivers.\n"
        run = await run_scripted(good_rules(Builder=writes(loose, again, REPORT)), rivers)
        assert winners(run) == ["not_grounded", "propagated_ungrounded_content"]
        assert run.result.outcome == "verified"
        assert "herons" not in run.report

    async def test_a_draft_that_was_set_aside_for_its_form_taints_nothing(self, tmp_path):
        from tests.support.faults import FAULTS

        fault = next(fault for fault in FAULTS if fault.problem == "duplicate_report_sections")
        run = await fault.run(tmp_path / "c", mends=True)
        assert run.run.state.rejected["final_report"]
        assert run.run.state.rejected_for_grounding == []
        assert run.result.outcome == "verified"

    async def test_a_report_that_was_cut_at_the_output_limit_is_not_taken_for_whole(self, rivers):
        """FAULTS 51: the cut may fall behind a full stop."""
        written = []

        def cut(messages, options):
            if "output limit" in said(messages) or written.count("cut") >= 2:
                return good_builder(messages, options)
            if len(results(messages)) < 2:
                return good_builder(messages, options)
            written.append("cut")
            raise BackendError("The reply reached the output limit.", cause="length")

        run = await run_scripted(good_rules(Builder=cut), rivers)
        assert winners(run) == ["truncated_ending"]
        assert run.result.outcome == "verified"
        assert [e.truncated for e in run.surface.of(ev.ArtifactWritten) if e.artifact == "final_report"] == [True, False]


class TestTheBestDraft:
    """A Builder that mends one problem by losing the rest: what is delivered is the draft of which most is carried."""

    WRONG = REPORT.replace("212 kilometres", "912 kilometres")

    @pytest.mark.parametrize(
        "stub",
        ["# Rivers\n\nThe Alder is 212 kilometres long [Alder].\n", "# Rivers\n\nRivers are long.\n", "# Rivers\n\nI could not do it.\n"],
    )
    async def test_mending_that_deletes_most_of_the_report_does_not_stand(self, rivers, stub):
        run = await run_scripted(good_rules(Builder=writes(self.WRONG, stub)), rivers)
        assert (run.result.outcome, run.result.exit) == ("unverified", 3)
        assert run.result.claims.supported == 3
        assert run.result.problems == ("claim_unsupported",)
        assert "912 kilometres long [1]. ⚠" in run.report
        assert "98 kilometres" in run.report
        kept = [run.run.read_file(event.file) for event in run.surface.of(ev.ArtifactRejected)]
        assert any(stub.split("\n\n")[1][:12] in text for text in kept), "what did not stand is kept"

    async def test_mending_that_takes_out_what_no_source_carries_stands(self, rivers):
        invented = "".join(f"The river has {n} bridges and {n + 3} mills along its course [Alder]. " for n in range(40, 60))
        run = await run_scripted(good_rules(Builder=writes(f"{REPORT}## More\n\n{invented}\n", REPORT)), rivers)
        assert run.result.outcome == "verified"
        assert "bridges" not in run.report

    async def test_a_builder_that_never_says_anything_of_use_is_relieved_by_code(self, rivers):
        run = await run_scripted(good_rules(Builder=writes("# Rivers\n\nI could not do it.\n")), rivers)
        assert (run.result.outcome, run.result.exit) == ("partial", 3)
        assert run.result.claims.supported == run.result.claims.total == 4
        assert "I could not do it" not in run.report
