"""Keys are found where people keep them, and leave the process nowhere."""

import json
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.config import Settings
from deepdelve.core.errors import ConfigError
from deepdelve.utils import secrets
from deepdelve.utils.secrets import MASK, Mask
from tests.support.patience import in_proportion

BRAVE = "search.brave_api_key"


def test_every_secret_setting_is_known() -> None:
    # The password of DeepDelve's own server is no provider's: no common variable holds it.
    assert {*secrets.COMMON_NAMES, "serve.password"} == set(secrets.secret_keys())


def test_a_key_is_taken_from_its_own_variable_then_the_common_one_then_the_file() -> None:
    secrets.store(BRAVE, "from-file")
    own = {"DEEPDELVE_SEARCH__BRAVE_API_KEY": "own", "BRAVE_API_KEY": "common"}
    assert secrets.find(BRAVE, own) == "own"
    assert secrets.find(BRAVE, {"BRAVE_API_KEY": " common "}) == "common"
    assert secrets.find(BRAVE, {}) == "from-file"
    assert secrets.find("search.tavily_api_key", {}) == ""


def test_settings_are_filled_where_they_are_empty_and_left_where_they_are_not() -> None:
    given = Settings.model_validate({"search": {"tavily_api_key": "kept"}})
    filled = secrets.fill(given, {"BRAVE_API_KEY": "b", "TAVILY_API_KEY": "other"})
    assert filled.search.brave_api_key.get_secret_value() == "b"
    assert filled.search.tavily_api_key.get_secret_value() == "kept"
    assert given.search.brave_api_key.get_secret_value() == ""


def test_a_keyring_is_asked_where_it_is_installed_and_one_that_fails_counts_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = SimpleNamespace(get_password=lambda service, key: f"{service}/{key}", __spec__=SimpleNamespace())
    monkeypatch.setitem(sys.modules, "keyring", ring)
    assert secrets.find(BRAVE, {}) == f"deepdelve/{BRAVE}"
    ring.get_password = lambda *_: 1 / 0
    assert secrets.find(BRAVE, {}) == ""


@pytest.mark.skipif(os.name != "posix", reason="permission bits")
def test_the_file_is_private_and_one_that_is_not_is_refused() -> None:
    path = secrets.store(BRAVE, "k")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="open to others") as caught:
        secrets.find(BRAVE, {})
    assert "chmod 600" in caught.value.remedy


def test_an_empty_value_removes_a_secret_and_others_stay() -> None:
    secrets.store(BRAVE, "b")
    secrets.store("search.tavily_api_key", "t")
    path = secrets.store(BRAVE, "")
    assert json.loads(path.read_text()) == {"search.tavily_api_key": "t"}


def test_only_secret_settings_are_stored() -> None:
    with pytest.raises(ConfigError, match="not a secret setting"):
        secrets.store("search.max_results", "5")


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"a": 1}', b"\xff", b"[" * 100_000, b""])
def test_a_broken_file_is_one_clear_line(content: bytes) -> None:
    path = secrets.store(BRAVE, "k")
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"secrets\.json"):
        secrets.find(BRAVE, {})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("search.brave_key", "Did you mean search.brave_api_key?"),
        ("brave_api_key", "Did you mean search.brave_api_key?"),
        ("TAVILY_KEY", "Did you mean TAVILY_API_KEY?"),
        ("search.max_results", "Names: "),
        ("zzz", "Names: "),
        ("", "Names: "),
    ],
)
def test_a_name_that_is_no_secret_setting_is_told_and_never_passed_over(name: str, hint: str) -> None:
    path = secrets.store("search.tavily_api_key", "t")
    path.write_text(json.dumps({"search.tavily_api_key": "t", name: "the-value-of-it"}))
    with pytest.raises(ConfigError, match=r"secrets\.json: there is no secret setting named") as caught:
        secrets.fill(Settings())
    assert hint in caught.value.line()
    assert "the-value-of-it" not in caught.value.line()
    assert "\n" not in caught.value.line()
    with pytest.raises(ConfigError, match="no secret setting"):
        secrets.store(BRAVE, "b")


def test_the_file_may_name_a_key_as_the_environment_does() -> None:
    path = secrets.store(BRAVE, "x")
    path.write_text("\ufeff" + json.dumps({"BRAVE_API_KEY": " b\n", "DEEPDELVE_SEARCH__TAVILY_API_KEY": "t"}), "utf-8")
    filled = secrets.fill(Settings(), {})
    assert filled.search.brave_api_key.get_secret_value() == "b"
    assert filled.search.tavily_api_key.get_secret_value() == "t"
    secrets.store(BRAVE, "c")
    assert json.loads(path.read_text()) == {"search.tavily_api_key": "t", BRAVE: "c"}


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_a_pipe_in_the_place_of_the_file_is_one_clear_line_and_no_wait() -> None:
    path = secrets.secrets_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path, 0o600)
    with pytest.raises(ConfigError, match="cannot be read"):
        secrets.find(BRAVE, {})


def test_settings_are_shown_without_their_secrets() -> None:
    settings = Settings.model_validate({"api": {"openai_base_url": "https://me:hunter22@proxy.example/v1", "openai_api_key": "sk-abc"}})
    text = json.dumps(secrets.shown(settings))
    assert "sk-abc" not in text
    assert "hunter22" not in text
    assert secrets.shown(settings)["api"]["openai_api_key"] == MASK
    assert secrets.shown(Settings())["api"]["openai_api_key"] == ""
    assert secrets.shown(settings)["fetch"]["max_bytes"] == 5_242_880


def test_known_secrets_are_masked_wherever_they_stand_and_short_ones_do_not_mask_words() -> None:
    mask = Mask(["correct-horse", "correct-horse-battery", "a.b*c(d", "the", ""])
    assert mask("x correct-horse-battery y correct-horse! a.b*c(d the end") == f"x {MASK} y {MASK}! {MASK} the end"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abcdef123456", f"Authorization: Bearer {MASK}"),
        ("key sk-proj-abcdefghijklmnop here", f"key sk-{MASK} here"),
        ("tvly-0123456789abcdef", f"tvly-{MASK}"),
        ("GET /x?api_key=0123456789&y=1", f"GET /x?api_key={MASK}&y=1"),
        ('{"password": "hunter22"}', f'{{"password": "{MASK}"}}'),
        ("http://me:hunter22@host/", f"http://me:{MASK}@host/"),
    ],
)
def test_what_looks_like_a_secret_is_masked_too(text: str, masked: str) -> None:
    assert Mask(())(text) == masked


@pytest.mark.parametrize(
    "text", ["The token economy grew.", "max_tokens: 16384", "See https://a.example/x@y", "ratio 3:2 @ noon", "a risk-free task"]
)
def test_ordinary_text_stays(text: str) -> None:
    assert Mask(())(text) == text


def test_a_mask_knows_the_settings_and_the_environment() -> None:
    settings = Settings.model_validate({"search": {"brave_api_key": "brave-secret"}})
    mask = secrets.mask_for(settings, {"GITHUB_TOKEN": "gh-secret", "PATH": "/usr/bin:/bin"})
    assert mask("brave-secret gh-secret /usr/bin:/bin") == f"{MASK} {MASK} /usr/bin:/bin"


def test_only_known_keys_leave_text_that_must_stay_as_it_is() -> None:
    mask = Mask(["lm-studio", 'quo"ted-and-long-key', "plain-and-long-key"])
    text = "Run lm-studio with token=abcdefgh and plain-and-long-key."
    assert mask.known(text) == f"Run lm-studio with token=abcdefgh and {MASK}."
    assert mask.known(json.dumps({"key": 'quo"ted-and-long-key'})) == json.dumps({"key": MASK})
    assert mask.known("no key") == "no key"
    assert (mask.empty, Mask(["short-one"]).empty, Mask(()).empty) == (False, True, True)


def test_child_processes_get_no_secrets() -> None:
    env = {
        "PATH": "/bin",
        "HOME": "/h",
        "OPENAI_API_KEY": "x",
        "DEEPDELVE_SEARCH__BRAVE_API_KEY": "x",
        "GH_TOKEN": "x",
        "DB_PASSWORD": "x",
        "KEYBOARD": "us",
        "MONKEY": "m",
    }
    assert secrets.child_environment(env) == {"PATH": "/bin", "HOME": "/h", "KEYBOARD": "us", "MONKEY": "m"}


@given(st.text())
def test_masking_is_done_once(text: str) -> None:
    mask = Mask(["secret-value"])
    assert "secret-value" not in mask(f"{text}secret-value{text}")


@pytest.mark.parametrize("piece", ["://a:", "bearer ", "token=", "sk-", "api_key: '"])
def test_hostile_text_takes_no_time(piece: str) -> None:
    in_proportion(Mask(["secret-value"]), piece * 50_000)


def test_the_file_is_in_the_home_of_the_product(isolated: Path) -> None:
    assert secrets.secrets_path() == isolated / "secrets.json"


@pytest.mark.parametrize("key", ["clé-of-a-server", "sk-one\nsk-two", "sk-\x1b[31m"])
def test_a_key_that_no_header_can_carry_is_one_line_that_does_not_show_it(key, monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", key)
    with pytest.raises(ConfigError, match=r"The key for search\.brave_api_key holds characters") as caught:
        secrets.fill(Settings())
    assert key not in caught.value.line()
