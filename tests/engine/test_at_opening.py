"""What a surface says when it opens: only what would keep a run from starting, and no search engine is asked."""

import pytest

from deepdelve.config import Settings
from deepdelve.engine import facade


def settings(backend, url=""):
    chosen = Settings()
    chosen.api.backend = backend
    chosen.api.openai_base_url, chosen.api.openai_model = url, "m" if url else ""
    chosen.api.ollama_host = "http://127.0.0.1:9"
    return chosen


async def test_nothing_is_said_where_nothing_is_wrong(isolated):
    assert await facade.at_opening(settings("builtin")) == []


@pytest.mark.parametrize(("backend", "url"), [("openai", "http://127.0.0.1:9/v1"), ("ollama", "")])
async def test_a_server_that_is_not_there_is_named_and_the_built_in_backend_offered(isolated, backend, url):
    (line,) = await facade.at_opening(settings(backend, url))
    assert "127.0.0.1:9" in line
    assert "cannot be reached" in line
    assert line.endswith("Or type /backend builtin, which needs no model; /doctor looks at everything.")


async def test_auto_says_that_it_does_without_a_model_and_why(isolated):
    (line,) = await facade.at_opening(settings("auto"))
    assert line.startswith("The built-in backend is used (no model, it selects and quotes): ")
    assert "127.0.0.1:9" in line


async def test_a_home_that_cannot_be_written_is_named(isolated, monkeypatch):
    monkeypatch.setenv("DEEPDELVE_HOME", "/proc/nowhere")
    (line,) = await facade.at_opening(settings("builtin"))
    assert line.startswith("/proc/nowhere cannot be written")
    assert "DEEPDELVE_HOME" in line
