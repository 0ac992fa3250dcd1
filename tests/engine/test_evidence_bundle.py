"""Evidence-only runs: what a bundle may hold, and that such a run does no research whatever the model asks for."""

import json

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import UsageError
from deepdelve.engine import conduct, evidence_bundle, facade, resume, store
from deepdelve.engine.evidence import evidence
from tests.support.scripted import ScriptedFactory, call, text
from tests.support.whole_run import (
    RIVERS,
    RecordingSurface,
    good_builder,
    good_findings_writer,
    good_rules,
    run_scripted,
    said,
    start_evidence_only,
    write_corpus,
)

ALDER = "The Alder is a river in the north. The Alder is 212 kilometres long."
BIRCH = "The Birch is a river in the south. The Birch is 98 kilometres long."


def bundle(folder, *rows):
    """A bundle of these lines; a mapping is written as JSON, text as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "evidence.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def row(name, body, **more):
    return {"source_url": f"https://{name}.example/", "title": name, "text": body, "facet": f"river {name}", **more}


def asking_first(rule):
    """The rule, behind a first reply that asks for all research tools at once."""
    asked, ids = set(), set()

    def chosen(messages, options):
        if said(messages) not in asked:
            asked.add(said(messages))
            asks = [
                call("web_search", query="rivers"),
                call("fetch_url_to_workspace", url="https://alder.example/"),
                call("delegate_tasks", tasks=[{"task_name": "river Cedar"}]),
            ]
            ids.update(ask.call_id for ask in asks)
            return asks
        return rule([m for m in messages if not {c.call_id for c in m.contents if c.type == "function_result"} & ids], options)

    return chosen


@pytest.fixture
def rivers(tmp_path):
    return bundle(tmp_path / "bundle", row("alder", ALDER), row("birch", BIRCH, summary="The Birch is 98 kilometres long."))


class TestLoading:
    def test_a_text_may_stand_in_the_line_or_in_a_file_beside_it(self, tmp_path):
        folder = bundle(tmp_path / "b", row("alder", ALDER), {"source_url": "https://birch.example/", "file": "texts/birch.md"})
        (folder / "texts").mkdir()
        (folder / "texts/birch.md").write_text(BIRCH)
        assert [entry.text for entry in evidence_bundle.load(folder).entries] == [ALDER, BIRCH]

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ("{not json", "no JSON object"),
            ("[1, 2]", "no JSON object"),
            ('{"text": "a text"}', "source_url is missing"),
            ('{"source_url": 7, "text": "a text"}', "source_url is missing"),
            ('{"source_url": "just words", "text": "a text"}', "is no address"),
            ('{"source_url": "javascript:alert(1)", "text": "a text"}', "is no address"),
            ('{"source_url": "https://a.example/"}', "neither text nor file"),
            ('{"source_url": "https://a.example/", "text": "  \\n "}', "neither text nor file"),
            ('{"source_url": "https://a.example/", "file": "gone.md"}', "'gone.md' is missing"),
            ('{"source_url": "https://a.example/", "file": "../outside.md"}', "outside the bundle"),
            ('{"source_url": "https://a.example/", "file": "/etc/hostname"}', "outside the bundle"),
            ('{"source_url": "https://a.example/", "file": "link.md"}', "outside the bundle"),
            ('{"source_url": "https://a.example/", "file": "binary.md"}', "is no text"),
            ("[" * 100_000, "no JSON object"),
        ],
    )
    def test_a_bad_line_is_named_and_left_out(self, tmp_path, line, why):
        folder = bundle(tmp_path / "b", row("alder", ALDER), line)
        (tmp_path / "outside.md").write_text("secret")
        (folder / "link.md").symlink_to(tmp_path / "outside.md")
        (folder / "binary.md").write_bytes(b"\x00\x01")
        loaded = evidence_bundle.load(folder)
        assert len(loaded.entries) == 1
        assert len(loaded.skipped) == 1
        assert loaded.skipped[0].startswith("line 2: ")
        assert why in loaded.skipped[0]

    def test_blank_lines_are_nothing(self, tmp_path):
        assert evidence_bundle.load(bundle(tmp_path / "b", "", row("alder", ALDER), "   ")).skipped == ()

    def test_an_empty_bundle_starts_no_run(self, tmp_path):
        with pytest.raises(UsageError, match="can be used"):
            evidence_bundle.load(bundle(tmp_path / "b", "{bad"))

    def test_a_folder_without_a_bundle_starts_no_run(self, tmp_path):
        with pytest.raises(UsageError, match="no evidence bundle"):
            evidence_bundle.load(tmp_path)

    def test_invisible_characters_do_not_come_in(self, tmp_path):
        loaded = evidence_bundle.load(bundle(tmp_path / "b", row("alder", "The\u202e Alder\u200b is long.", title="A\u202eB\nC")))
        assert loaded.entries[0].text == "The Alder is long."
        assert loaded.entries[0].title == "AB C"


class TestEvidenceOnlyRuns:
    async def test_a_bundle_becomes_a_verified_report_with_two_writers_and_no_other_role(self, rivers):
        run = await start_evidence_only(good_rules(), rivers)
        assert (run.result.outcome, run.result.exit) == ("verified", 0)
        assert {c.role for c in run.factory.calls} == {"FindingsWriter", "Builder", "PeerReviewer"}
        assert {s.origin for s in run.run.state.sources.values()} == {"bundle"}
        assert "212 kilometres" in run.report
        assert "98 kilometres" in run.report
        assert run.run.state.evidence_only

    async def test_whatever_the_model_asks_for_each_ask_is_a_refused_event_and_nothing_leaves(self, rivers):
        rules = good_rules(FindingsWriter=asking_first(good_findings_writer), Builder=asking_first(good_builder))
        run = await start_evidence_only(rules, rivers)
        refused = [e.tool for e in run.surface.of(ev.ToolRefused) if e.rule == "evidence_only"]
        assert set(refused) == {"web_search", "fetch_url_to_workspace", "delegate_tasks"}
        assert not [e for e in run.surface.of(ev.ToolCalled) if e.tool in set(refused)]
        assert not run.surface.of(ev.SearchDone)
        assert not run.run.state.tasks
        assert len(run.run.state.sources) == 2

    async def test_the_gate_refuses_research_of_a_role_that_holds_the_tools(self, rivers):
        """The check itself never calls the Planner; were it called, its delegation would be refused."""
        from deepdelve.engine.gate import Call, Dispatch, evidence_only

        run = await start_evidence_only(good_rules(), rivers)
        for tool in ("delegate_tasks", "web_search", "fetch_url_to_workspace"):
            assert "given evidence only" in evidence_only(Call(run.run, Dispatch(id="", role="Planner"), tool, {}))
        assert evidence_only(Call(run.run, Dispatch(id="", role="Builder"), "read_workspace_file", {})) == ""

    async def test_claims_that_the_text_does_not_carry_are_set_aside_and_the_text_speaks_for_itself(self, tmp_path):
        folder = bundle(tmp_path / "b", row("alder", ALDER, summary="The Alder is 900 kilometres long."))
        run = await start_evidence_only(good_rules(), folder)
        assert "900" not in run.report
        assert "212 kilometres" in run.report
        assert run.result.outcome == "verified"

    async def test_excerpts_of_one_page_on_several_lines_are_one_source(self, tmp_path):
        lines = [row("alder", ALDER), {**row("birch", BIRCH), "source_url": "https://alder.example/"}]
        run = await start_evidence_only(good_rules(), bundle(tmp_path / "b", *lines))
        assert list(run.run.state.sources) == ["S1"]
        assert run.run.read_source("S1") == f"{ALDER}\n\n{BIRCH}"
        assert {f.facet for f in evidence(run.run.state)} == {"river alder", "river birch"}

    async def test_lines_left_out_are_told(self, tmp_path):
        run = await start_evidence_only(good_rules(), bundle(tmp_path / "b", row("alder", ALDER), *["{bad"] * 25))
        told = [n.text for n in run.surface.of(ev.Notice) if n.code == "bundle_line_skipped"]
        assert "of the given evidence could not be used" in run.report
        assert len(told) == 21
        assert "line 2:" in told[0]
        assert told[-1].startswith("5 more lines")

    async def test_the_reader_is_told_that_nothing_was_researched(self, rivers):
        run = await start_evidence_only(good_rules(), rivers)
        assert "Written from given evidence alone" in run.report

    async def test_a_bundle_goes_with_no_other_source(self, rivers, tmp_path):
        with pytest.raises(UsageError, match="bundle and nothing else"):
            await start_evidence_only(good_rules(), rivers, seed_urls=("https://a.example/",))

    async def test_a_writer_that_never_writes_costs_no_evidence_only_run(self, rivers):
        silent = {"FindingsWriter": lambda m, o: text("Done."), "Builder": lambda m, o: text("Done.")}
        run = await start_evidence_only(good_rules(**silent), rivers)
        assert run.result.outcome in {"partial", "unverified"}
        assert "212 kilometres" in run.report


class TestResume:
    async def resumed(self, run_id, rules):
        made = []

        async def choose(settings, hooks):
            made.append(ScriptedFactory(rules, hooks=hooks))
            return made[0], "scripted"

        surface = RecordingSurface()
        ctx = await resume.open_run(run_id, Settings(), surface, choose=choose)
        try:
            return await conduct.conduct(ctx), ctx.run, surface
        finally:
            await ctx.services.close()

    def cut(self, folder, keep):
        """The run as it would be after a kill behind the last event that is kept."""
        lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
        last = max(i for i, line in enumerate(lines) if keep(json.loads(line)))
        (folder / "journal.jsonl").write_bytes(b"".join(lines[: last + 1]))
        (folder / store.SNAPSHOT).unlink()
        for name in ("final_report.md", "findings.md", "draft/final_report.md"):
            (folder / name).unlink(missing_ok=True)

    async def test_a_resumed_run_keeps_its_evidence_though_the_bundle_is_gone(self, rivers):
        first = await start_evidence_only(good_rules(), rivers)
        self.cut(first.run.dir, lambda e: e["type"] == "artifact_written" and e["artifact"] == "findings")
        (rivers / "evidence.jsonl").unlink()
        result, run, surface = await self.resumed(first.run.run_id, good_rules())
        assert result.outcome == "verified"
        assert run.state.evidence_only
        assert not surface.of(ev.SearchDone)
        assert "Planner" not in {e.role for e in surface.of(ev.DispatchStarted)}

    async def test_a_kill_while_the_bundle_was_recorded_loses_and_doubles_nothing(self, rivers):
        first = await start_evidence_only(good_rules(), rivers)
        self.cut(first.run.dir, lambda e: e["type"] == "finding_added" and e["finding"]["id"] == "F1")
        (first.run.dir / "draft/findings.md").unlink()
        result, run, _ = await self.resumed(first.run.run_id, good_rules())
        assert result.outcome == "verified"
        assert len(run.state.sources) == 2
        assert sorted(f.facet for f in run.state.findings.values()) == ["river alder", "river birch"]


class TestExport:
    async def test_an_exported_run_comes_back_with_every_source_facet_and_claim(self, tmp_path):
        first = await run_scripted(good_rules(), write_corpus(tmp_path / "rivers", RIVERS))
        lines = facade.export_evidence(first.run.run_id, tmp_path / "out")
        assert lines == 2
        again = await start_evidence_only(good_rules(), tmp_path / "out")
        assert again.result.outcome == "verified"
        assert {s.url for s in again.run.state.sources.values()} == {s.url for s in first.run.state.sources.values()}
        claims = [{c.text for f in evidence(run.run.state) for c in f.claims} for run in (first, again)]
        assert claims[0] == claims[1]
        assert again.result.claims.supported == first.result.claims.supported
        assert len(again.result.citations) == len(first.result.citations)

    async def test_a_run_without_evidence_exports_nothing(self, tmp_path):
        run = await run_scripted(good_rules(Analyzer=lambda m, o: text("Nothing.")), write_corpus(tmp_path / "rivers", RIVERS))
        with pytest.raises(UsageError, match="no evidence to export"):
            facade.export_evidence(run.run.run_id, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    async def test_a_bundle_is_never_overwritten(self, rivers):
        run = await start_evidence_only(good_rules(), rivers)
        with pytest.raises(UsageError, match="holds an evidence bundle already"):
            facade.export_evidence(run.run.run_id, rivers)
