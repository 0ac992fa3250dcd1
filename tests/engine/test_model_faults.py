"""Whole runs over real sockets: both protocols alike, and every fault of a model server ends honestly."""

from pathlib import Path

import pytest

from tests.support.llm_replies import FAULTS
from tests.support.llm_server import LlmServer
from tests.support.model_rules import steady_rules
from tests.support.model_runs import PLACES, PROTOCOLS, breaches, model_settings, run_on_server, run_with_fault, watched_retries
from tests.support.whole_run import RIVERS, write_corpus

# Every fault once, in roles, places and protocols that take turns: the whole matrix is made by benchmarks/model_faults.py.
ROLES = ("Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder", "PeerReviewer")
CASES = [
    (fault, ROLES[at % len(ROLES)], ("first", "later")[at // len(ROLES) % 2], PROTOCOLS[(at + at // len(ROLES)) % 2])
    for at, fault in enumerate(sorted(FAULTS))
]
# What differs between any two runs: times, ids, nonces, and what the server counted.
DROPPED = {
    "ts",
    "seconds",
    "started",
    "ended",
    "fetched_at",
    "deadline_s",
    "run_id",
    "session_id",
    "call_id",
    "backend",
    "tokens_in",
    "tokens_out",
}


@pytest.fixture(autouse=True)
def quick_retries():
    with watched_retries():
        yield


async def on_both(tmp_path):
    """The same question through both protocols, one dispatch after the other so that their order is fixed."""
    runs = []
    write_corpus(tmp_path / "rivers", RIVERS)
    for protocol in PROTOCOLS:
        with LlmServer(steady_rules()) as server:
            settings = model_settings(server, protocol)
            settings.settings.concurrency = 1
            runs.append(await run_on_server(server, protocol, tmp_path / "rivers", settings=settings))
    return runs


def bare(value, nonce):
    if isinstance(value, dict):
        return {key: bare(inner, nonce) for key, inner in value.items() if key not in DROPPED}
    if isinstance(value, list):
        return [bare(inner, nonce) for inner in value]
    return value.replace(nonce, "NONCE") if isinstance(value, str) else value


def files(done):
    """Every file of the run but its log and state, which hold times."""
    names = sorted(str(path.relative_to(done.run.dir)) for path in done.run.dir.rglob("*") if path.is_file())
    return {name: "" if name in {"journal.jsonl", "_run_state.json"} else (done.run.dir / name).read_text() for name in names}


async def test_the_same_question_through_both_protocols_gives_the_same_chain_files_and_events(tmp_path):
    ollama, openai = await on_both(tmp_path)
    assert {ollama.result.outcome, openai.result.outcome} == {"verified"}
    chains = [[(seen.role, seen.turn, seen.tools) for seen in done.server.chats()] for done in (ollama, openai)]
    assert chains[0] == chains[1]
    events = [
        [bare(event.model_dump(mode="json"), done.run.nonce) for event in done.surface.events if event.seq] for done in (ollama, openai)
    ]
    assert events[0] == events[1]
    assert files(ollama) == files(openai)
    assert {"final_report.md", "final_report.claims.json", "references.bib", "sources/S1.md"} <= set(files(ollama))


@pytest.mark.parametrize(("fault", "role", "place", "protocol"), CASES)
async def test_each_fault_ends_within_its_budget_and_honestly(tmp_path, fault, role, place, protocol):
    done = await run_with_fault(fault, role, place, protocol, tmp_path / "rivers")
    assert breaches(done) == []


def test_the_page_on_model_faults_has_a_row_for_each_fault_and_no_broken_rule():
    page = (Path(__file__).resolve().parents[2] / "docs" / "model-faults.md").read_text("utf-8")
    assert all(f"| `{fault}` |" in page for fault in FAULTS)
    runs = len(FAULTS) * len(ROLES) * len(PROTOCOLS) * len(PLACES)
    assert f" 0 of {runs} runs broke one of these rules" in page.replace("\n", " ")
