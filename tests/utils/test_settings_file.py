"""Settings come from file, environment and flags in that order; every fault is one line with a way out."""

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

from deepdelve.config import Settings, config_path, known_keys, nearest, template_path
from deepdelve.core.errors import ConfigError
from deepdelve.utils.settings_file import load, set_value


def written(text: str) -> Path:
    """The user's own settings file with this text."""
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def fault(text: str = "", **changes: Any) -> str:
    """The one line that a person sees for these settings."""
    if text:
        written(text)
    with pytest.raises(ConfigError) as caught:
        load(env=changes.get("env", {}), flags=changes.get("flags"))
    line = caught.value.line()
    assert "\n" not in line
    assert caught.value.exit_code == 2
    return line


def leaves(node: dict[str, Any], prefix: str = "") -> set[str]:
    """The dotted keys of a YAML mapping."""
    keys: set[str] = set()
    for name, value in node.items():
        keys |= leaves(value, f"{prefix}{name}.") if isinstance(value, dict) and value else {f"{prefix}{name}"}
    return keys


# The template


def test_template_and_model_name_the_same_keys() -> None:
    document = YAML(typ="safe").load(template_path().read_text(encoding="utf-8"))
    assert leaves(document) == set(known_keys())


def test_template_holds_the_defaults() -> None:
    assert load(template_path(), env={}) == Settings()


def test_every_key_of_the_template_stands_under_a_comment_of_its_group() -> None:
    """A group of like keys may share one comment; no group goes without."""
    lines = template_path().read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if line and not line[0].isspace() and not line.startswith("#"):
            assert lines[number - 1].startswith("#"), line


def test_every_group_refuses_unknown_keys() -> None:
    def groups(model: type[BaseModel]) -> list[type[BaseModel]]:
        inner = [f.annotation for f in model.model_fields.values() if isinstance(f.annotation, type)]
        return [model, *(g for kind in inner if issubclass(kind, BaseModel) for g in groups(kind))]

    assert len(groups(Settings)) >= 8
    assert all(group.model_config.get("extra") == "forbid" for group in groups(Settings))


# What counts


def test_without_a_file_the_defaults_count() -> None:
    assert load(env={}) == Settings()
    assert not config_path().exists()


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "api:\n", "api:\nsearch:\n\n"])
def test_an_empty_file_and_an_empty_group_count_as_left_out(text: str) -> None:
    written(text)
    assert load(env={}) == Settings()


def test_file_then_environment_then_flags() -> None:
    written("api: {backend: ollama, ollama_model: from-file}\nsettings: {depth: quick}\n")
    env = {"DEEPDELVE_API__BACKEND": "openai", "DEEPDELVE_SETTINGS__DEPTH": "deep"}
    settings = load(env=env, flags={"api.backend": "builtin", "settings.report_style": None})
    assert settings.api.backend == "builtin"
    assert settings.settings.depth == "deep"
    assert settings.api.ollama_model == "from-file"
    assert settings.settings.report_style == "standard"


def test_the_processs_own_environment_is_used_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPDELVE_SETTINGS__CONCURRENCY", "7")
    assert load().settings.concurrency == 7


def test_lists_in_the_environment_are_separated_by_commas() -> None:
    settings = load(env={"DEEPDELVE_SEARCH__CORPUS": "/papers, /notes,", "DEEPDELVE_SEARCH__BLOCKED_DOMAINS": "a.example"})
    assert settings.search.corpus == ["/papers", "/notes"]
    assert settings.search.blocked_domains == ["a.example"]


def test_variables_that_are_not_settings_are_left_alone() -> None:
    env = {"DEEPDELVE_HOME": "/x", "DEEPDELVE_TEST_BASE_URL": "http://127.0.0.1:1", "DEEPDELVE_API__BACKEND": "", "PATH": "/bin"}
    assert load(env=env) == Settings()


def test_a_given_file_replaces_the_users_own(tmp_path: Path) -> None:
    written("settings: {depth: deep}\n")
    other = tmp_path / "other.yaml"
    other.write_text("settings: {report_style: answer}\n")
    settings = load(other, env={})
    assert (settings.settings.depth, settings.settings.report_style) == ("standard", "answer")


def test_a_group_may_be_given_in_part() -> None:
    written("settings: {presets: {quick: {attempts: 1}}}\n")
    quick = load(env={}).settings.presets.quick
    assert (quick.attempts, quick.search) == (1, Settings().settings.presets.quick.search)


def test_names_of_checks_to_leave_out_are_free() -> None:
    written("settings: {ablation: {disable_check_no_urls: true}, approvals: {web_search: ask}}\nprices: {m: {input: 1}}\n")
    settings = load(env={})
    assert settings.settings.ablation == {"disable_check_no_urls": True}
    assert settings.prices["m"].input == 1


# Faults


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("api:\n  bakend: ollama\n", ["line 2", "api.bakend", "api.backend"]),
        ("settings:\n  # why\n  depht: deep\n", ["line 3", "settings.depht", "settings.depth"]),
        ("serach:\n  max_results: 3\n", ["line 1", "'serach'", "'search'"]),
        ("settings: {presets: {quick: {atempts: 1}}}\n", ["settings.presets.quick.atempts", "attempts"]),
        ("zzzzqqq: 1\n", ["line 1", "zzzzqqq", "config_template.yaml"]),
        ("1: 2\n", ["line 1", "unknown key '1'"]),
    ],
)
def test_an_unknown_key_names_file_line_key_and_nearest(text: str, parts: list[str]) -> None:
    line = fault(text)
    assert str(config_path()) in line
    assert all(part in line for part in parts), line


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("settings:\n  max_run_minutes: ten\n", ["line 2", "settings.max_run_minutes", "number", "'ten'"]),
        ("settings:\n  concurrency: 0\n", ["line 2", "settings.concurrency", "greater than or equal to 1"]),
        ("settings:\n  concurrency: 2.5\n", ["line 2", "settings.concurrency", "whole number"]),
        ("settings:\n  depth: shallow\n", ["line 2", "settings.depth", "'quick', 'standard' or 'deep'"]),
        ("fetch:\n  cache: maybe\n", ["line 2", "fetch.cache", "true or false"]),
        ("search:\n  corpus: /papers\n", ["line 2", "search.corpus", "list"]),
        ("search:\n  corpus: [1]\n", ["line 2", "search.corpus", "text"]),
        ("api:\n  backend:\n", ["line 2", "api.backend"]),
        ("api: ollama\n", ["line 1", "api", "group"]),
        ("api: [ollama]\n", ["line 1", "api"]),
        ("settings:\n  approvals: {web_search: perhaps}\n", ["line 2", "settings.approvals.web_search", "'ask'"]),
        ("settings:\n  max_run_minutes: .nan\n", ["line 2", "settings.max_run_minutes"]),
        ("api:\n  temperature: .inf\n", ["line 2", "api.temperature"]),
        ("prices:\n  m: {input: -1}\n", ["line 2", "prices.m.input"]),
    ],
)
def test_a_wrong_value_names_file_line_key_and_what_is_taken(text: str, parts: list[str]) -> None:
    line = fault(text)
    assert str(config_path()) in line
    assert all(part in line for part in parts), line


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("api: {backend: ollama\n", ["line"]),
        ("api:\n\tbackend: ollama\n", ["line 2"]),
        ("api:\n  backend: ollama\n backend: x\n", ["line 3"]),
        ("api: {}\napi: {}\n", ["line 2"]),
        ("- api\n- search\n", ["line 1", "groups"]),
        ("just words\n", ["line 1", "groups"]),
        ("42\n", ["line 1", "groups"]),
        ("a: 1\n---\nb: 2\n", ["line"]),
        ("api: *missing\n", ["line 1"]),
        ("api: \x07\n", []),
        pytest.param("api: " + "[" * 500 + "\n", ["nested"], id="500 open lists"),
        ("api: &a {backend: *a}\n", []),
    ],
)
def test_bad_yaml_is_one_line_with_its_place(text: str, parts: list[str]) -> None:
    line = fault(text)
    assert str(config_path()) in line
    assert all(part in line for part in parts), line


def test_a_file_that_is_not_text_is_named() -> None:
    written("")
    config_path().write_bytes(b"\xff\xfe\x00api")
    assert str(config_path()) in fault()


def test_a_missing_given_file_is_a_fault_and_is_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "none.yaml"
    with pytest.raises(ConfigError, match=r"no settings file at .*none\.yaml"):
        load(missing, env={})
    assert not missing.exists()


def test_a_folder_is_no_settings_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no settings file"):
        load(tmp_path, env={})


@pytest.mark.parametrize(
    ("env", "parts"),
    [
        ({"DEEPDELVE_API__BAKEND": "ollama"}, ["DEEPDELVE_API__BAKEND", "api.backend"]),
        ({"DEEPDELVE_SETTINGS__DEPTH": "shallow"}, ["DEEPDELVE_SETTINGS__DEPTH", "settings.depth", "'deep'"]),
        ({"DEEPDELVE_NONSENSE": "1"}, ["DEEPDELVE_NONSENSE", "unknown key"]),
        ({"DEEPDELVE_API": "ollama"}, ["DEEPDELVE_API", "api"]),
    ],
)
def test_a_fault_of_a_variable_names_the_variable(env: dict[str, str], parts: list[str]) -> None:
    line = fault(env=env)
    assert all(part in line for part in parts), line


def test_a_value_below_another_value_is_a_fault_and_does_not_hide_it() -> None:
    assert "'api' has a value of its own" in fault("api: 5\n", env={"DEEPDELVE_API__BACKEND": "ollama"})
    config_path().unlink()
    assert "DEEPDELVE_API__BACKEND__X" in fault(env={"DEEPDELVE_API__BACKEND": "ollama", "DEEPDELVE_API__BACKEND__X": "1"})


def test_a_users_own_file_that_is_none_is_said_and_not_passed_over(tmp_path: Path) -> None:
    config_path().mkdir(parents=True)
    assert "cannot be read" in fault()
    config_path().rmdir()
    config_path().symlink_to(tmp_path / "gone.yaml")
    assert "cannot be read" in fault()


def test_a_path_that_cannot_be_one_is_no_settings_file() -> None:
    for path in (Path("x" * 5000), Path("a\0b")):
        with pytest.raises(ConfigError, match="no settings file"):
            load(path, env={})


def test_a_fault_of_a_flag_names_the_key() -> None:
    assert "settings.max_run_minutes" in fault(flags={"settings.max_run_minutes": -1})


def test_a_secret_is_never_shown() -> None:
    line = fault("api:\n  openai_api_key: [sk-very-secret]\n")
    assert "api.openai_api_key" in line
    assert "sk-very-secret" not in line
    written("api: {openai_api_key: sk-very-secret}\n")
    assert "sk-very-secret" not in repr(load(env={}))


def test_a_long_value_is_cut() -> None:
    assert len(fault("settings:\n  depth: " + "x" * 5000 + "\n")) < 600


# Changing one value


COMMENTED = """\
# mine
api:
  backend: ollama   # at home
  # the small one
  ollama_model: tiny

settings:
  depth: quick
"""


def test_a_change_keeps_comments_order_and_the_rest() -> None:
    path = written(COMMENTED)
    settings = set_value("settings.depth", "deep")
    assert path.read_text() == COMMENTED.replace("depth: quick", "depth: deep")
    assert settings.settings.depth == "deep"


def test_a_change_adds_a_group_that_was_not_there() -> None:
    path = written(COMMENTED)
    set_value("ui.notify", False)
    assert path.read_text().startswith(COMMENTED)
    assert load(env={}).ui.notify is False


def test_a_change_fills_a_group_that_was_empty() -> None:
    written("# mine\nui:\n")
    set_value("ui.notify", False)
    assert config_path().read_text().startswith("# mine\nui:")
    assert load(env={}).ui.notify is False


@pytest.mark.parametrize("text", ["# nothing set yet\n# depth: deep\n", "# first\n\n---\n# second\n"])
def test_a_file_of_comments_alone_keeps_them(text: str) -> None:
    written(text)
    set_value("ui.notify", False)
    kept = config_path().read_text()
    assert all(line in kept for line in text.splitlines() if line.startswith("#"))
    assert load(env={}).ui.notify is False


def test_a_change_makes_the_file_for_its_owner_alone() -> None:
    set_value("api.openai_api_key", "sk-1")
    assert config_path().stat().st_mode & 0o777 == 0o600
    assert load(env={}).api.openai_api_key.get_secret_value() == "sk-1"


@pytest.mark.parametrize(
    ("key", "value"), [("settings.depth", "shallow"), ("settings.depht", "deep"), ("nothing", 1), ("settings.depth", None)]
)
def test_a_wrong_change_leaves_the_file_as_it_was(key: str, value: object) -> None:
    path = written(COMMENTED)
    with pytest.raises(ConfigError):
        set_value(key, value)
    assert path.read_text() == COMMENTED


def test_a_value_may_be_taken_back_to_none() -> None:
    written("settings: {max_run_minutes: 5}\n")
    assert set_value("settings.max_run_minutes", None).settings.max_run_minutes is None
    assert load(env={}).settings.max_run_minutes is None


def test_a_change_to_a_broken_file_leaves_it_alone() -> None:
    path = written("api: {backend: ollama\n")
    with pytest.raises(ConfigError):
        set_value("settings.depth", "deep")
    assert path.read_text() == "api: {backend: ollama\n"


def test_the_environment_does_not_leak_into_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPDELVE_API__OPENAI_API_KEY", "sk-from-env")
    set_value("settings.depth", "deep")
    assert "sk-from-env" not in config_path().read_text()


def test_a_link_as_settings_file_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.yaml"
    real.write_text(COMMENTED)
    config_path().parent.mkdir(parents=True)
    config_path().symlink_to(real)
    set_value("settings.depth", "deep")
    assert config_path().is_symlink()
    assert "depth: deep" in real.read_text()


# Nearest names


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("api.bakend", "api.backend"),
        ("max_minutes", "settings.max_run_minutes"),
        ("depht", "settings.depth"),
        ("depth", "settings.depth"),
        ("qqqq", ""),
    ],
)
def test_nearest_key(word: str, found: str) -> None:
    assert nearest(word, known_keys()) == found


def test_home_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path / "elsewhere"))
    assert config_path() == tmp_path / "elsewhere" / "config.yaml"
    monkeypatch.delenv("DEEPDELVE_HOME")
    assert config_path() == Path(os.environ["HOME"]) / ".deepdelve" / "config.yaml"
