"""A run that found nothing is taken up again: its research is open, because the short report of it is nobody's draft."""

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError
from deepdelve.engine import resume, store
from deepdelve.tools.search.base import SearchResponse
from deepdelve.tools.search.corpus import CorpusBackend
from tests.engine.durable.support import choosing, go_on
from tests.support.whole_run import RIVERS, RecordingSurface, good_rules, run_scripted, write_corpus


def down(messages, options):
    raise BackendError("The model server failed (500).", "Look at its log.", cause="server_error")


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


async def unanswered(self, query):
    return SearchResponse(outcome="unavailable", detail="The engine cannot be reached.")


async def barren(kind, rivers, monkeypatch):
    """A run that ends with nothing to cite: its engine, one of its roles, or its Planner did not work."""
    with monkeypatch.context() as patch:
        if kind == "engine":
            patch.setattr(CorpusBackend, "search", unanswered)
            return await run_scripted(good_rules(), rivers)
        return await run_scripted(good_rules(**{kind: down}), rivers)


@pytest.mark.parametrize(("kind", "outcome"), [("engine", "no_evidence"), ("Analyzer", "no_evidence"), ("Planner", "failed")])
async def test_a_run_that_found_nothing_researches_again_when_it_is_resumed(kind, outcome, rivers, monkeypatch):
    whole = await barren(kind, rivers, monkeypatch)
    assert whole.result.outcome == outcome
    assert whole.report.strip()
    result, surface, run, _ = await go_on(whole.run.run_id)
    assert result.outcome == "verified", result.reason
    assert "212 kilometres" in run.read_file("final_report.md")
    assert not surface.of(ev.ArtifactRejected)
    urls = [source.url for source in run.state.sources.values()]
    assert len(urls) == len(set(urls))


async def test_a_run_that_finds_nothing_again_spends_no_writer_on_its_short_report(rivers, monkeypatch):
    whole = await barren("engine", rivers, monkeypatch)
    monkeypatch.setattr(CorpusBackend, "search", unanswered)
    for _ in range(2):
        result, surface, run, _ = await go_on(whole.run.run_id)
        assert result.outcome == "no_evidence"
        assert not [e for e in surface.of(ev.DispatchStarted) if e.role in {"Builder", "FindingsWriter"}]
    assert "brought back" not in run.read_file("final_report.md")


async def test_a_run_that_was_finished_by_code_with_nothing_in_hand_still_researches(rivers, monkeypatch):
    whole = await barren("engine", rivers, monkeypatch)
    done = await resume.finish_by_code(whole.run.run_id, Settings(), RecordingSurface())
    assert done.outcome == "no_evidence"
    result, *_ = await go_on(whole.run.run_id)
    assert result.outcome == "verified"


async def test_a_resumed_run_searches_with_the_engine_that_was_named_for_it(rivers):
    whole = await run_scripted(good_rules(Planner=down), rivers, search="corpus")
    other = Settings.model_validate({"search": {"backend": "wikipedia"}})
    ctx = await resume.open_run(whole.run.run_id, other, RecordingSurface(), choose=choosing())
    assert ctx.services.settings.search.backend == "corpus"
    ctx.run.close()
    await ctx.services.close()


async def test_where_no_engine_was_named_the_settings_in_force_choose(rivers):
    whole = await run_scripted(good_rules(Planner=down), rivers)
    assert store.load_state(whole.run.dir).engine == ""
    now = Settings.model_validate({"search": {"backend": "corpus"}})
    ctx = await resume.open_run(whole.run.run_id, now, RecordingSurface(), choose=choosing())
    assert ctx.services.settings.search.backend == "corpus"
    ctx.run.close()
    await ctx.services.close()
