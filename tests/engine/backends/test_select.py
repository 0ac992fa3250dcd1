"""Which backend answers, said in one line, known within three seconds; what was asked for and is not there fails at once."""

import pytest

from deepdelve.core.errors import BackendError, ConfigError
from deepdelve.engine.backends.ollama import OllamaFactory
from deepdelve.engine.backends.openai import OpenAIFactory
from deepdelve.engine.backends.select import choose
from tests.engine.backends.kit import PROTOCOLS, settings_for
from tests.support.llm_server import LlmServer, Model
from tests.support.scripted import ScriptedFactory

NOW = 1_780_000_000.0
MODELS = (
    Model("old-tools", modified="2025-01-01T00:00:00Z"),
    Model("new-tools", modified="2026-05-20T00:00:00Z"),
    Model("newer-no-tools", tools=False, modified="2026-05-25T00:00:00Z"),
    Model("newest-embed", tools=True, modified="2026-05-26T00:00:00Z"),
)
DEAD = "http://127.0.0.1:9"


def builtin() -> ScriptedFactory:
    return ScriptedFactory({}, name="builtin")


def unset(**api):
    return settings_for(**{"ollama_model": "", "openai_model": "", "openai_base_url": "", **api})


async def test_auto_takes_the_newest_local_model_that_can_call_tools():
    with LlmServer(models=MODELS) as server:
        choice = await choose(unset(ollama_host=server.url), builtin=builtin, now=NOW)
    assert isinstance(choice.factory, OllamaFactory)
    assert choice.factory.model == "new-tools"
    assert choice.line == f"The model is new-tools on Ollama at {server.url}, the newest of 2 that can call tools (8 days old)."


@pytest.mark.parametrize("models", [(), (Model("x", tools=False),)])
async def test_auto_takes_the_builtin_where_no_model_can_call_tools(models):
    with LlmServer(models=models) as server:
        choice = await choose(unset(ollama_host=server.url), builtin=builtin, now=NOW)
    assert choice.factory.name == "builtin"
    assert "The built-in backend is used" in choice.line
    assert "ollama pull" in choice.line
    assert "\n" not in choice.line


@pytest.mark.parametrize("trouble", ["dead", "silent", "web page"])
async def test_auto_takes_the_builtin_within_three_seconds_where_ollama_is_not_there(trouble):
    with LlmServer(web_page=trouble == "web page", delay=600 if trouble == "silent" else 0) as server:
        choice = await choose(unset(ollama_host=DEAD if trouble == "dead" else server.url), builtin=builtin)
    assert choice.factory.name == "builtin"


async def test_auto_takes_the_configured_server_before_a_local_one():
    with LlmServer(models=MODELS) as server:
        settings = unset(ollama_host=server.url, openai_base_url=server.openai_url, openai_model="new-tools")
        choice = await choose(settings, builtin=builtin)
    assert isinstance(choice.factory, OpenAIFactory)
    assert choice.line == f"The model is new-tools at {server.openai_url}."


async def test_auto_takes_the_configured_local_model():
    with LlmServer(models=MODELS) as server:
        choice = await choose(unset(ollama_host=server.url, ollama_model="old-tools"), builtin=builtin)
    assert choice.factory.model == "old-tools"


async def test_the_builtin_is_taken_without_asking_anyone_where_it_is_asked_for():
    with LlmServer(models=MODELS) as server:
        choice = await choose(unset(backend="builtin", ollama_host=server.url), builtin=builtin)
        assert server.seen == []
    assert choice.factory.name == "builtin"


@pytest.mark.parametrize(
    ("api", "cause"),
    [
        ({"backend": "ollama", "ollama_host": DEAD}, "unreachable"),
        ({"backend": "ollama", "ollama_host": DEAD, "ollama_model": "m"}, "unreachable"),
        ({"backend": "auto", "ollama_host": DEAD, "ollama_model": "m"}, "unreachable"),
        ({"backend": "openai", "openai_base_url": f"{DEAD}/v1", "openai_model": "m"}, "unreachable"),
        ({"backend": "auto", "openai_base_url": f"{DEAD}/v1", "openai_model": "m"}, "unreachable"),
    ],
)
async def test_what_was_asked_for_and_is_not_there_fails_at_once_with_the_remedy(api, cause):
    with pytest.raises(BackendError) as caught:
        await choose(unset(**api), builtin=builtin)
    assert caught.value.cause == cause
    assert caught.value.remedy


@pytest.mark.parametrize(("model", "cause"), [("absent", "model_missing"), ("newer-no-tools", "no_tools")])
async def test_a_configured_model_that_will_not_do_is_named(model, cause):
    with LlmServer(models=MODELS) as server, pytest.raises(BackendError) as caught:
        await choose(unset(ollama_host=server.url, ollama_model=model), builtin=builtin)
    assert caught.value.cause == cause
    assert model in caught.value.line()


async def test_the_only_model_of_a_server_need_not_be_named():
    with LlmServer(models=[Model("only")]) as server:
        choice = await choose(unset(openai_base_url=server.openai_url), builtin=builtin)
    assert choice.factory.model == "only"


async def test_of_several_models_one_must_be_named():
    with LlmServer(models=MODELS) as server, pytest.raises(ConfigError, match="old-tools, new-tools") as caught:
        await choose(unset(openai_base_url=server.openai_url), builtin=builtin)
    assert "api.openai_model" in caught.value.remedy


async def test_an_openai_backend_without_an_address_is_a_mistake_of_the_settings():
    with pytest.raises(ConfigError, match="No address"):
        await choose(unset(backend="openai"), builtin=builtin)


async def test_a_refused_key_says_where_a_key_may_stand():
    with LlmServer(models=MODELS, key="secret") as server, pytest.raises(BackendError) as caught:
        await choose(unset(openai_base_url=server.openai_url, openai_model="m"), builtin=builtin)
    assert caught.value.cause == "unauthorized"
    assert "mode 600" in caught.value.remedy


async def test_a_web_page_at_the_address_is_named_for_what_it_is():
    with LlmServer(web_page=True) as server, pytest.raises(BackendError) as caught:
        await choose(unset(openai_base_url=server.openai_url, openai_model="m"), builtin=builtin)
    assert caught.value.cause == "not_a_model_server"


async def test_a_gateway_that_lists_nothing_is_taken_where_the_model_is_named():
    with LlmServer() as server:
        choice = await choose(unset(openai_base_url=f"{server.url}/v2", openai_model="m"), builtin=builtin)
    assert choice.factory.model == "m"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("where", "cause"), [("dead", "unreachable"), ("web page", "not_a_model_server"), ("locked", "unauthorized")])
async def test_a_specialist_that_is_not_there_is_known_before_the_run(protocol, where, cause):
    with LlmServer() as main, LlmServer(web_page=where == "web page", key="other" if where == "locked" else "") as second:
        url = {"dead": DEAD}.get(where, second.url)
        api = {"ollama_host": main.url, "openai_base_url": main.openai_url, "ollama_model": "m", "openai_model": "m"}
        with pytest.raises(BackendError) as caught:
            await choose(unset(backend=protocol, specialist_base_url=url, **api), builtin=builtin)
    assert caught.value.cause == cause
    assert caught.value.line().startswith("The specialist is not there: ")
    assert "api.specialist_" in caught.value.remedy


@pytest.mark.parametrize(("models", "cause"), [([Model("m")], "model_missing"), ([Model("m"), Model("small", tools=False)], "no_tools")])
async def test_a_specialist_that_will_not_do_is_named(models, cause):
    with LlmServer(models=models) as server, pytest.raises(BackendError, match="small") as caught:
        await choose(unset(ollama_host=server.url, ollama_model="m", specialist_model="small"), builtin=builtin)
    assert caught.value.cause == cause


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_specialist_that_is_there_changes_nothing_of_the_line(protocol):
    with LlmServer(models=[Model("m"), Model("small")]) as server:
        api = {"ollama_host": server.url, "openai_base_url": server.openai_url, "ollama_model": "m", "openai_model": "m"}
        choice = await choose(unset(backend=protocol, specialist_model="small", **api), builtin=builtin)
        await choice.factory.close()
    assert choice.factory.model == "m"
    assert choice.line.startswith("The model is m ")


async def test_the_builtin_asks_for_no_specialist():
    choice = await choose(unset(backend="builtin", specialist_model="small", specialist_base_url=DEAD), builtin=builtin)
    assert choice.factory.name == "builtin"
