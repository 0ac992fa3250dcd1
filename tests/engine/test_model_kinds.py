"""Kinds of failure that others met, as whole runs against a model server: each ends as a person would wish."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError
from tests.support.llm_replies import Call, Reply
from tests.support.llm_server import LlmServer, Model
from tests.support.model_rules import TASKS, answered, builder, planner, steady_rules, wrote
from tests.support.model_runs import PROTOCOLS, breaches, model_settings, run_on_server, watched_retries

ROOT = Path(__file__).resolve().parents[2]
both = pytest.mark.parametrize("protocol", PROTOCOLS)


def in_turn(names, *values):
    """The values, each over one protocol, in turn: docs/model-faults.md has them all over both."""
    rows = [(*(value if isinstance(value, tuple) else (value,)), PROTOCOLS[at % 2]) for at, value in enumerate(values)]
    return pytest.mark.parametrize((*names.split(), "protocol"), rows)


@pytest.fixture(autouse=True)
def quick_retries():
    with watched_retries():
        yield


async def run_with(tmp_path, protocol, *faults, rules=None, settings=None, **server):
    """A run with faults, each as (fault, role, turns)."""
    with LlmServer(rules or steady_rules(), **server) as made:
        for fault, role, turns in faults:
            made.fail(fault, role=role, turns=turns)
        chosen = settings(made) if settings else model_settings(made, protocol)
        done = await run_on_server(made, protocol, tmp_path / "rivers", settings=chosen)
    assert breaches(done) == []
    return done


def thorough(seen):
    """A Searcher that fetches every hit."""
    reply = steady_rules()["Searcher"](seen)
    if reply.calls and reply.calls[0].name == "fetch_url_to_workspace":
        found = re.findall(r'"url": "([^"]+)"', dict(answered(seen))["web_search"])
        return Reply(calls=tuple(Call("fetch_url_to_workspace", {"url": url}) for url in found))
    return reply


def notices(done, code):
    return [event.text for event in done.surface.of(ev.Notice) if event.code == code]


@in_turn("fault", "unknown_name", "broken_json", "repetition")
async def test_calls_that_are_always_wrong_end_the_run_after_a_few_with_the_reason(tmp_path, protocol, fault):
    done = await run_with(tmp_path, protocol, (fault, None, None))
    assert (done.result.outcome, done.result.exit) == ("failed", 4)
    assert len(done.server.chats()) <= 8


@in_turn("fault", "outside_enum", "args_nested", "args_as_string", "bad_escape", "missing_bracket", "channel_in_name", "near_name")
async def test_calls_that_can_be_mended_cost_nothing(tmp_path, protocol, fault):
    done = await run_with(tmp_path, protocol, (fault, "Planner", {0}), (fault, "Builder", {0, 1}))
    assert done.result.outcome == "verified"
    assert len(done.server.chats()) <= 24
    assert "<|" not in " ".join(event.tool for event in done.surface.of(ev.ToolCalled))


@in_turn("fault", "cut_stream", "no_done", "error_in_stream", "broken_line")
@pytest.mark.parametrize("role", ["Planner", "Builder"])
async def test_a_stream_that_breaks_once_is_asked_again_and_its_half_is_no_answer(tmp_path, protocol, fault, role):
    done = await run_with(tmp_path, protocol, (fault, role, {0}))
    assert done.result.outcome == "verified"
    assert done.watch.waits == [1.0]
    assert "will not reach its end" not in "".join(event.text for event in done.surface.of(ev.Message))


@both
async def test_a_web_page_in_place_of_a_server_is_known_before_a_run_exists(tmp_path, protocol, isolated):
    with pytest.raises(BackendError) as error:
        await run_with(tmp_path, protocol, web_page=True)
    assert error.value.cause == "not_a_model_server"
    assert error.value.remedy
    assert not (isolated / "runs").exists()


@both
async def test_a_web_page_in_the_midst_of_a_run_is_named_and_is_no_answer(tmp_path, protocol):
    done = await run_with(tmp_path, protocol, ("html", None, None))
    assert done.result.outcome == "failed"
    assert "not a model server" in done.result.reason
    assert done.result.citations == ()


@both
async def test_a_megabyte_from_a_specialist_is_capped_said_and_its_start_used(tmp_path, protocol):
    def analyzer(seen):
        reply = steady_rules()["Analyzer"](seen)
        more = "".join(f"Word number {n} of too many. " for n in range(40_000))
        return replace(reply, text=f"{reply.text}\n{more}", piece=4_000) if reply.text else reply

    done = await run_with(tmp_path, protocol, rules=steady_rules(Analyzer=analyzer))
    assert done.result.outcome == "verified"
    assert notices(done, "backend") or notices(done, "capped_reply")


@both
async def test_what_the_specialist_does_is_counted_as_its_own(tmp_path, protocol):
    def specialist(server):
        settings = model_settings(server, protocol)
        settings.api.specialist_model = "small"
        return settings

    done = await run_with(tmp_path, protocol, settings=specialist, models=[Model("m"), Model("small")])
    asked = [seen.body["model"] for seen in done.server.chats()]
    models = done.result.usage["models"]
    assert {name: row["calls"] for name, row in models.items()} == {name: asked.count(name) for name in ("m", "small")}
    assert sum(done.result.usage["roles"][role]["calls"] for role in ("Searcher", "Analyzer")) == asked.count("small")


@both
async def test_prose_in_place_of_a_plan_makes_the_question_itself_the_task(tmp_path, protocol):
    done = await run_with(tmp_path, protocol, ("prose", "Planner", None), rules=steady_rules(Searcher=thorough))
    assert notices(done, "question_as_task")
    assert [task.name for task in done.run.state.top_tasks()]
    assert "212 kilometres" in done.report


@in_turn("lost", "name", "facet", "instructions")
async def test_a_plan_that_lacks_a_field_is_a_plan(tmp_path, protocol, lost):
    def forgetful(seen):
        reply = planner(seen)
        tasks = [{"task_name": n, "facet": n, "instructions": i} for n, i in TASKS]
        kept = [{key: value for key, value in task.items() if not key.endswith(lost)} for task in tasks]
        return replace(reply, calls=(reply.calls[0], Call("delegate_tasks", {"tasks": kept}))) if reply.calls else reply

    done = await run_with(tmp_path, protocol, rules=steady_rules(Planner=forgetful))
    assert len(done.run.state.top_tasks()) == 2
    assert "212" in done.report


@both
async def test_a_model_that_cannot_call_tools_is_found_before_the_run(tmp_path, protocol, isolated):
    def checked(server):
        settings = model_settings(server, protocol)
        settings.api.preflight = True
        if protocol == "openai":
            server.fail("no_tools")
        return settings

    with pytest.raises(BackendError) as error:
        await run_with(tmp_path, protocol, settings=checked, models=[Model("m", tools=False)])
    assert error.value.cause == "no_tools"
    assert "cannot call tools" in error.value.message
    assert not (isolated / "runs").exists()


@in_turn("fault", "unauthorized", "model_missing", "html")
async def test_what_no_run_can_be_had_with_is_found_before_the_run(tmp_path, protocol, fault, isolated):
    def checked(server):
        settings = model_settings(server, protocol)
        settings.api.preflight = True
        server.fail(fault)
        return settings

    with pytest.raises(BackendError) as error:
        await run_with(tmp_path, protocol, settings=checked)
    assert error.value.cause == {"html": "not_a_model_server"}.get(fault, fault)
    assert error.value.remedy
    assert not (isolated / "runs").exists()


@in_turn("fault", "thinking_closed", "thinking_field", "channel_text", "thinking_only_closed")
async def test_thinking_is_in_no_file_of_the_run_and_in_no_later_request(tmp_path, protocol, fault):
    done = await run_with(tmp_path, protocol, (fault, None, None))
    assert done.result.outcome == "verified"
    kept = [path for path in done.run.dir.rglob("*") if path.is_file() and ("Let me see" in path.read_text() or "<|" in path.read_text())]
    assert kept == []
    assert "Let me see" not in json.dumps([seen.body for seen in done.server.chats()])


@both
async def test_a_context_that_is_cut_without_a_word_raises_the_alarm_once_a_role(tmp_path, protocol):
    done = await run_with(tmp_path, protocol, ("cut_context", "Builder", None))
    assert len(notices(done, "context_cut")) == 1
    assert "Builder" in notices(done, "context_cut")[0]
    assert any(event.truncated for event in done.surface.of(ev.UsageReported))


@both
async def test_the_date_and_the_language_are_in_every_prompt(tmp_path, protocol):
    done = await run_with(tmp_path, protocol)
    assert {seen.role for seen in done.server.chats()} == set(steady_rules())
    for seen in done.server.chats():
        assert done.run.state.date in seen.system
        assert "English" in seen.system
    assert str(time.localtime().tm_year) in done.run.state.date


@both
async def test_a_report_that_was_cut_by_length_is_asked_for_shorter_and_then_stands_whole(tmp_path, protocol):
    done = await run_with(tmp_path, protocol, ("length", "Builder", {0}))
    assert done.result.outcome == "verified"
    assert any("less than half the length" in event.text for event in done.surface.of(ev.Message))


@in_turn("role", "Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder")
async def test_a_reply_cut_by_length_once_costs_no_run(tmp_path, protocol, role):
    done = await run_with(tmp_path, protocol, ("length", role, {0}))
    assert done.result.outcome == "verified"


@both
async def test_a_report_that_never_fits_is_never_delivered_in_mid_sentence(tmp_path, protocol):
    whole = "# Two rivers\n\n" + "The Alder is 212 kilometres long [S1].\n\n" * 20 + "The Birch is 98 kilo"

    def endless(seen):
        return Reply(whole, finish="length")

    done = await run_with(tmp_path, protocol, rules=steady_rules(Builder=endless))
    assert done.result.outcome in {"partial", "unverified"}
    assert "98 kilo " not in done.body + " "
    assert not done.body.rstrip().endswith("98 kilo")
    assert "212 kilometres" in done.report


@both
async def test_a_builder_that_narrates_its_report_is_taken_at_its_word_only_when_it_ended(tmp_path, protocol):
    told = []

    def narrates(seen):
        reply = builder(seen)
        if reply.calls and reply.calls[0].name == "write_workspace_file" and not wrote(seen):
            text = reply.calls[0].args["text"]
            told.append(1)
            return Reply(text + "\n\n## Rivers\n\n" + "The Alder is 212 kilometres long [S1]. " * 8, piece=400)
        return reply

    done = await run_with(tmp_path, protocol, rules=steady_rules(Builder=narrates))
    assert told
    assert notices(done, "narrated")
    assert "212 kilometres" in done.report


@in_turn(
    "fault calls",
    ("http_500", 2),
    ("http_503", 2),
    ("http_429", 2),
    ("http_429_wait", 2),
    ("empty", 2),
    ("only_thinking", 2),
    ("unauthorized", 1),
)
async def test_a_model_that_always_fails_ends_within_its_retries_with_one_sentence(tmp_path, protocol, fault, calls):
    done = await run_with(tmp_path, protocol, (fault, None, None))
    assert (done.result.outcome, done.result.exit) == ("failed", 4)
    assert len(done.server.chats()) <= calls
    assert done.result.citations == ()
    assert "kilometres" not in done.report
    assert done.watch.waits in ([], [1.0], [7.0])


@both
async def test_a_wait_that_the_server_asks_for_is_kept(tmp_path, protocol):
    done = await run_with(tmp_path, protocol, ("http_429_wait", "Builder", {0}))
    assert done.watch.waits == [7.0]
    assert done.result.outcome == "verified"


@both
async def test_a_server_that_gives_every_call_the_same_id_mixes_nothing_up(tmp_path, protocol, monkeypatch):
    from tests.support import llm_server

    whole = llm_server._call_deltas
    same = lambda calls: [{**d, "id": f"call_{d['index']}"} if "id" in d else d for d in whole(calls)]  # noqa: E731
    monkeypatch.setattr(llm_server, "_call_deltas", same)
    done = await run_with(tmp_path, protocol, ("cut_stream", "Searcher", {2}))
    assert done.result.outcome == "verified"


@both
async def test_a_run_leaves_nothing_behind_but_its_own_home(tmp_path, protocol, isolated):
    """Nothing is installed or downloaded at run time; that nothing but loopback is spoken to holds for every test."""
    await run_with(tmp_path, protocol)
    left = [path for path in (tmp_path / "user_home").rglob("*") if path.is_file()]
    assert left == []
    assert {path.name for path in isolated.iterdir()} <= {"runs", "sessions", "history.jsonl", "health.json", "preflight.json", "cache"}


def dead_address():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@both
async def test_a_dead_server_is_known_within_three_seconds(tmp_path, protocol):
    with LlmServer() as server:
        settings = model_settings(server, protocol)
    with pytest.raises(BackendError) as error:
        await asyncio.wait_for(run_on_server(server, protocol, tmp_path / "rivers", settings=settings), 60)
    assert error.value.cause == "unreachable"


@both
def test_a_dead_server_is_one_sentence_on_the_command_line(tmp_path, protocol, isolated):
    (tmp_path / "rivers").mkdir()
    (tmp_path / "rivers" / "alder.md").write_text("The Alder is 212 kilometres long.")
    address = f"http://127.0.0.1:{dead_address()}"
    env = {**os.environ, "PYTHONPATH": str(ROOT / ".typecheck"), "DEEPDELVE_API__OLLAMA_HOST": address}
    place = ["--base-url", f"{address}/v1"] if protocol == "openai" else []
    command = [sys.executable, "-m", "deepdelve", "run", "How long?", "--backend", protocol, "--model", "m", "--corpus", "rivers", *place]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 4
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert "cannot be reached" in line
    assert "Start" in line
    assert not (isolated / "runs").exists()
