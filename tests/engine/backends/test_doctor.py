"""The doctor says of everything a run needs whether it is well, and gives the remedy where it is not."""

import pytest

from deepdelve.engine.backends.doctor import Finding, doctor, preflight
from tests.engine.backends.kit import PROTOCOLS, settings_for
from tests.support.llm_server import Call, LlmServer, Model, Reply
from tests.support.scripted import ScriptedFactory


def healthy(seen):
    if seen.tools:
        return Reply(calls=(Call("note_city", {"city": "Paris"}),))
    return '{"city": "Paris"}' if "JSON" in seen.last else "one two three"


def builtin() -> ScriptedFactory:
    return ScriptedFactory({}, name="builtin")


def settings(protocol: str, server: LlmServer):
    chosen = settings_for(server, backend=protocol)
    chosen.settings.num_ctx = 4_096
    return chosen


async def examine(protocol: str, server: LlmServer, **options) -> dict[str, Finding]:
    return {finding.name: finding for finding in await doctor(settings(protocol, server), builtin=builtin, **options)}


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_healthy_machine_has_nothing_to_mend(protocol):
    async def search() -> Finding:
        return Finding("search", True, "SearXNG answers.")

    with LlmServer({"": healthy}) as server:
        found = await examine(protocol, server, search=search, terminal=lambda: Finding("terminal", True, "120 columns."))
    assert set(found) == {"server", "model", "tools", "json", "thinking", "speed", "context", "parallel", "search", "home", "terminal"}
    assert all(finding.ok and finding.detail and not finding.fix for finding in found.values()), found


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("prose", "tools"),
        ("cut_context", "context"),
        ("thinking_field", "thinking"),
        ("http_500", "tools"),
        ("empty", "json"),
        ("no_tools", "tools"),
    ],
)
async def test_what_is_wrong_is_found_and_has_a_remedy(protocol, fault, name):
    with LlmServer({"": healthy}) as server:
        server.fail(fault)
        found = await examine(protocol, server)
    assert not found[name].ok
    assert found[name].fix
    assert found["server"].ok


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("fault", ["http_500", "unauthorized", "html", "model_missing", "no_tools", "http_429", "cut_stream"])
async def test_what_could_not_be_looked_at_is_never_called_well(protocol, fault):
    with LlmServer({"": healthy}) as server:
        server.fail(fault)
        found = await examine(protocol, server, thorough=False)
    ill = {name for name, finding in found.items() if not finding.ok}
    assert {"tools", "json", "thinking"} <= ill
    assert all(finding.fix for finding in found.values() if not finding.ok)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_thinking_that_was_asked_for_and_does_not_come_is_said(protocol):
    with LlmServer({"": healthy}, models=[Model("m", thinking=True)]) as server:
        chosen = settings(protocol, server)
        chosen.api.thinking = True
        quiet = {f.name: f for f in await doctor(chosen, builtin=builtin, thorough=False)}
        server.fail("thinking_field")
        aloud = {f.name: f for f in await doctor(chosen, builtin=builtin, thorough=False)}
    assert quiet["thinking"].detail == "Thinking is on: but the model did not think in the trials."
    assert "characters of it" in aloud["thinking"].detail


async def test_an_ollama_that_asks_for_a_key_has_another_remedy_than_a_provider():
    with LlmServer({"": healthy}, key="secret") as server:
        found, *_ = await doctor(settings("ollama", server), builtin=builtin, thorough=False)
    assert (found.name, found.ok, found.cause) == ("server", False, "")
    assert "--backend openai" in found.fix


@pytest.mark.parametrize(
    ("known", "fault", "ok", "says"),
    [
        ("m", "", True, "one of 1"),
        ("other", "", True, "need not be whole"),
        ("other", "model_missing", False, "not on the server's list"),
    ],
)
async def test_a_model_that_the_server_does_not_list_is_named_with_those_that_it_lists(known, fault, ok, says):
    with LlmServer({"": healthy}, models=[Model(known)]) as server:
        if fault:
            server.fail(fault)
        found = await examine("openai", server, thorough=False)
    assert found["model"].ok is ok
    assert says in found["model"].detail
    assert found["model"].fix == ("" if ok else "Set api.openai_model to one of: other")


def with_specialist(protocol, server, name="small", url=""):
    chosen = settings(protocol, server)
    chosen.api.specialist_model, chosen.api.specialist_base_url = name, url
    return chosen


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_specialist_is_looked_at_on_its_own(protocol):
    both = [Model("m"), Model("small")]
    with LlmServer({"": healthy}, models=both) as server:
        found = {f.name: f for f in await doctor(with_specialist(protocol, server), builtin=builtin)}
        asked = [seen.body["model"] for seen in server.chats()]
    assert all(finding.ok for finding in found.values()), found
    assert {"specialist tools", "specialist context"} <= set(found)
    assert set(asked) == {"m", "small"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_specialist_that_fails_is_told_apart_from_the_main_model(protocol):
    with LlmServer({"": healthy}) as server, LlmServer({"": "no call"}, models=[Model("small")]) as second:
        url = second.url if protocol == "ollama" else second.openai_url
        found = {f.name: f for f in await doctor(with_specialist(protocol, server, url=url), builtin=builtin, thorough=False)}
    assert found["tools"].ok
    assert not found["specialist tools"].ok
    assert found["specialist tools"].fix


async def test_a_specialist_of_a_family_that_needs_a_parser_is_looked_at_too():
    with LlmServer({"": healthy}, models=[Model("m"), Model("qwen3.5:4b")]) as server:
        found = {f.name: f for f in await doctor(with_specialist("ollama", server, "qwen3.5:4b"), builtin=builtin, thorough=False)}
    assert (found["specialist template"].ok, found["specialist template"].fix) == (False, "Run: ollama pull qwen3.5:4b")


async def test_a_tool_call_as_text_is_well_since_it_is_mended():
    with LlmServer({"": healthy}) as server:
        server.fail("call_in_tag", turns={0})
        found = await examine("ollama", server, thorough=False)
    assert found["tools"].ok


async def test_bad_json_is_found():
    with LlmServer({"": lambda seen: healthy(seen) if seen.tools else "It is Paris."}) as server:
        found = await examine("openai", server, thorough=False)
    assert not found["json"].ok
    assert "Paris" not in found["json"].detail


@pytest.mark.parametrize(
    ("modelfile", "ok"), [("FROM x\nPARSER qwen3\nRENDERER qwen3", True), ("FROM x", False), ("FROM x\nPARSER qwen3", False)]
)
async def test_families_that_need_a_parser_are_looked_at(modelfile, ok):
    with LlmServer({"": healthy}, models=[Model("m", family="qwen35", modelfile=modelfile)]) as server:
        found = await examine("ollama", server, thorough=False)
    assert found["template"].ok is ok
    assert found["template"].fix == ("" if ok else "Run: ollama pull m")


async def test_a_dead_server_is_one_finding_and_the_rest_is_still_looked_at():
    dead = settings_for(backend="ollama", ollama_host="http://127.0.0.1:9")
    found = await doctor(dead, builtin=builtin)
    assert [finding.name for finding in found] == ["server", "home"]
    assert (found[0].ok, found[0].fix) == (False, "Start it with: ollama serve")


async def test_without_a_model_the_builtin_is_well():
    found = await doctor(settings_for(backend="builtin"), builtin=builtin)
    assert [(finding.name, finding.ok) for finding in found] == [("server", True), ("home", True)]


async def test_a_home_that_cannot_be_written_is_found(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("x")
    monkeypatch.setenv("DEEPDELVE_HOME", str(blocked / "home"))
    found = await doctor(settings_for(backend="builtin"), builtin=builtin)
    assert not found[-1].ok
    assert "DEEPDELVE_HOME" in found[-1].fix


async def test_a_model_that_was_well_is_not_examined_again_within_a_week(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path))
    with LlmServer({"": healthy}) as server:
        first = await preflight(settings("ollama", server), builtin=builtin, model="m", now=1_000.0)
        asked = len(server.seen)
        again = await preflight(settings("ollama", server), builtin=builtin, model="m", now=2_000.0)
        assert len(server.seen) == asked
        await preflight(settings("ollama", server), builtin=builtin, model="m", now=1_000.0 + 8 * 86_400)
        assert len(server.seen) > asked
    assert first == again
    assert all(finding.ok for finding in first)


async def test_another_specialist_is_examined_though_the_main_model_was_well(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path))
    with LlmServer({"": healthy}, models=[Model("m"), Model("small")]) as server:
        await preflight(settings("ollama", server), builtin=builtin, model="m", now=1_000.0)
        asked = len(server.chats())
        again = await preflight(with_specialist("ollama", server), builtin=builtin, model="m", now=1_001.0)
        assert len(server.chats()) > asked
    assert "specialist tools" in {finding.name for finding in again}


async def test_a_model_that_was_ill_is_examined_again(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "doctor.json").write_text("not json")
    with LlmServer({"": "no call"}) as server:
        for _ in range(2):
            found = await preflight(settings("openai", server), builtin=builtin, model="m", now=1_000.0)
        assert len([seen for seen in server.chats() if seen.tools]) == 2
    assert not all(finding.ok for finding in found)
