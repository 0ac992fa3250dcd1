"""What a request chooses goes over the settings, every choice counts, and one that cannot be used is refused in a line."""

import pytest

from deepdelve.config import Settings
from deepdelve.core.errors import ConfigError, CorpusError, UsageError
from deepdelve.core.requests import RunRequest
from deepdelve.engine.setup import applied, checked_paths, seed_addresses


@pytest.mark.parametrize(
    ("backend", "setting"), [("ollama", "ollama_host"), ("openai", "openai_base_url"), ("", "openai_base_url"), ("auto", "openai_base_url")]
)
def test_an_address_counts_for_the_server_that_is_asked_for(backend: str, setting: str) -> None:
    chosen = applied(Settings(), RunRequest(question="q", backend=backend, base_url="http://127.0.0.1:9"))
    assert getattr(chosen.api, setting) == "http://127.0.0.1:9"


def test_an_address_of_ollama_leaves_the_other_server_alone() -> None:
    chosen = applied(Settings(), RunRequest(question="q", backend="ollama", base_url="http://127.0.0.1:9", model="m"))
    assert (chosen.api.openai_base_url, chosen.api.ollama_model, chosen.api.openai_model) == ("", "m", "")


@pytest.mark.parametrize(
    ("kept", "asked", "setting"),
    [
        ({}, {}, "ollama_model"),
        ({"backend": "ollama"}, {}, "ollama_model"),
        ({"backend": "openai"}, {}, "openai_model"),
        ({"openai_base_url": "http://127.0.0.1:8/v1"}, {}, "openai_model"),
        ({"backend": "ollama", "openai_base_url": "http://127.0.0.1:8/v1"}, {}, "ollama_model"),
        ({"openai_base_url": "http://127.0.0.1:8/v1"}, {"backend": "ollama"}, "ollama_model"),
        ({}, {"base_url": "http://127.0.0.1:9/v1"}, "openai_model"),
        ({"backend": "builtin"}, {}, "ollama_model"),
        ({"backend": "builtin", "openai_base_url": "http://127.0.0.1:8/v1"}, {}, "openai_model"),
    ],
)
def test_a_model_counts_for_the_server_that_will_be_asked(kept: dict[str, str], asked: dict[str, str], setting: str) -> None:
    chosen = applied(Settings.model_validate({"api": kept}), RunRequest(question="q", model="m", **asked))
    named = {key: getattr(chosen.api, key) for key in ("ollama_model", "openai_model")}
    assert named == {"ollama_model": "", "openai_model": "", setting: "m"}
    assert chosen.api.backend != "builtin"


def test_an_address_goes_to_the_kind_of_server_that_the_settings_name() -> None:
    chosen = applied(Settings.model_validate({"api": {"backend": "ollama"}}), RunRequest(question="q", base_url="http://127.0.0.1:9"))
    assert (chosen.api.backend, chosen.api.ollama_host, chosen.api.openai_base_url) == ("ollama", "http://127.0.0.1:9", "")


@pytest.mark.parametrize("choice", [{"model": "m"}, {"base_url": "http://127.0.0.1:9"}])
def test_the_builtin_takes_no_model_and_says_so(choice: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="no model and no server"):
        applied(Settings(), RunRequest(question="q", backend="builtin", **choice))


@pytest.mark.parametrize(
    "choice", [{"backend": "zebra"}, {"scope": "moon"}, {"model": "a\x1bb"}, {"search": "\x00"}, {"base_url": "http://\x07"}]
)
def test_a_choice_that_no_setting_takes_is_one_line(choice: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as caught:
        applied(Settings(), RunRequest(question="q", **choice))
    assert "\n" not in caught.value.line()
    assert "cannot be used" in caught.value.message


@pytest.mark.parametrize(
    "url", ["", "x", "ftp://a.example/", "http://", "http://[::1", "http://a\x01b/", "http://a b/", "https://:80/", "file:///etc/passwd"]
)
def test_a_seed_that_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is not a web address"):
        seed_addresses([url])


@pytest.mark.parametrize("path", ["x" * 5000, "~nobody-of-this-name/x", "a\0b", ""])
def test_a_corpus_that_can_be_no_path_is_refused(path: str) -> None:
    with pytest.raises(UsageError):
        checked_paths([path], "corpus")


def test_a_corpus_that_is_not_there_is_named() -> None:
    with pytest.raises(CorpusError, match="no corpus at nowhere"):
        checked_paths(["nowhere"], "corpus")
