"""A settings file is text from outside: whatever stands in it is a setting or one line that names the place, soon and without a secret."""

from pathlib import Path

import pytest

from deepdelve.config import Settings, known_keys
from deepdelve.core.errors import ConfigError
from deepdelve.utils.settings_file import load
from deepdelve.utils.settings_yaml import MAX_BYTES, read_mapping

QUICK = "settings:\n  depth: quick\n"
PRESET = "{attempts: 4, planner_rounds: 1, search: 8, fetch: 12, minutes: 10}"
NINE = ",".join(["*a{}"] * 9)
LIST_BOMB = "a0: &a0 [x,x,x]\n" + "".join(f"a{n}: &a{n} [{NINE.format(*[n - 1] * 9)}]\n" for n in range(1, 12))
MAP_BOMB = "prices:\n  a0: &a0 {input: 1}\n" + "".join(
    f"  a{n}: &a{n} {{{','.join(f'k{k}: *a{n - 1}' for k in range(9))}}}\n" for n in range(1, 12)
)
MERGE_BOMB = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{NINE.format(*[n - 1] * 9)}]}}\n" for n in range(1, 12))
# A value of every kind that YAML has and no setting takes, or not that setting.
ODD = {
    "a number of 5,000 digits": "9" * 5000,
    "an ordered map": "!!omap [a: 1]",
    "a set": "!!set {a, b}",
    "bytes": "!!binary aGVsbG8=",
    "a tag of Python": "!!python/object/apply:os.system ['exit 3']",
    "a tag of one's own": "!mine x",
    "a list in a list": "[[a]]",
    "nothing in a list": "[null]",
    "infinity": ".inf",
    "no number": ".nan",
    "a number that is too large": "1e999",
    "a control character": '"\\e[31m"',
    "half a character": '"\\ud800"',
    "groups in groups": "{a: {b: [c]}}",
}


def read(tmp_path: Path, text: "str | bytes") -> Settings:
    file = tmp_path / "given.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(file, env={})


def fault(tmp_path: Path, text: "str | bytes") -> str:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    line = caught.value.line()
    assert caught.value.exit_code == 2
    assert "given.yaml" in line
    assert "\n" not in line
    assert len(line) < 600
    return line


def in_yaml(dotted: str, value: str) -> str:
    *groups, leaf = dotted.split(".")
    return "".join(f"{'  ' * depth}{name}:\n" for depth, name in enumerate(groups)) + f"{'  ' * len(groups)}{leaf}: {value}\n"


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_an_odd_value_of_any_key_is_one_line_that_names_the_key_or_its_line(tmp_path: Path, value: str) -> None:
    for key in known_keys():
        assert ", line " in fault(tmp_path, in_yaml(key, value)), key


@pytest.mark.parametrize("key", known_keys())
def test_yes_is_no_number_and_a_list_is_no_text(tmp_path: Path, key: str) -> None:
    value: object = Settings().model_dump()
    for name in key.split("."):
        value = value[name] if isinstance(value, dict) else None
    if not isinstance(value, bool):
        assert key in fault(tmp_path, in_yaml(key, "true"))
    if not isinstance(value, list):
        assert key in fault(tmp_path, in_yaml(key, "[a]"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(LIST_BOMB, "aliases stand for too much", id="lists of aliases"),
        pytest.param(MAP_BOMB, "aliases stand for too much", id="groups of aliases"),
        pytest.param(MERGE_BOMB, "aliases stand for too much", id="merged aliases"),
        pytest.param("&a\nsettings: *a\n", "nested too deeply", id="a file within itself"),
        pytest.param("prices: &a\n  x: *a\n", "nested too deeply", id="a group within itself"),
        pytest.param("prices: &a {<<: *a}\n", "part of itself", id="a group merged into itself"),
        pytest.param("a:" + "{a: " * 3000 + "}" * 3000, "nested too deeply", id="3,000 groups"),
        pytest.param("a: 1\n" * 30_000, "larger than", id="more than a settings file is"),
        pytest.param("a: b: c\n", "line 1: mapping values are not allowed here. Mend that line", id="two colons"),
        pytest.param(b"\x00\x00", "not valid YAML", id="zero bytes"),
        pytest.param(b"a: 1\nb: caf\xe9\n", "line 2: this is not UTF-8", id="latin-1"),
        pytest.param(QUICK.encode("utf-16"), "not UTF-8", id="utf-16"),
        pytest.param("settings: {<<: 3}\n", "groups only", id="a number merged"),
        pytest.param("? [a, b]\n: 1\n", "a key must be a short word", id="a list as key"),
        pytest.param('"a\\nb": 1\n', "a key must be a short word", id="a key on two lines"),
        pytest.param("'': 1\n", "a key must be a short word", id="no key"),
        pytest.param("api.backend: ollama\n", "Write 'api:' on a line", id="a dotted key"),
        pytest.param("depth: quick\n", "settings.depth", id="a key without its group"),
        pytest.param("settings:\n  presets:\n    quick:\n", "expected a group", id="an empty group in a group"),
    ],
)
def test_whatever_stands_there_the_line_says_what_is_wrong(tmp_path: Path, text: "str | bytes", said: str) -> None:
    assert said in fault(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "search:\n  brave_api_key: sk-very-secret\n  brave_api_key: sk-very-secret-2\n",
        "api: sk-very-secret\n",
        "search: [brave_api_key, sk-very-secret]\n",
        "api:\n  openai_api_key: {value: sk-very-secret}\n",
        "api:\n  openai_api_kee: sk-very-secret\n",
        'api:\n  openai_api_key: "sk-very-secret\\n"\n',
        "api:\n  openai_api_key: !vault sk-very-secret\n",
    ],
)
def test_no_fault_shows_a_secret(tmp_path: Path, text: str) -> None:
    assert "very-secret" not in fault(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + QUICK.encode(),
        QUICK.replace("\n", "\r\n"),
        '{"settings": {"depth": "quick"}}',
        "%YAML 1.1\n---\n" + QUICK,
        "settings: {<<: {depth: quick}}\n",
    ],
    ids=["byte order mark", "line ends of Windows", "JSON", "a directive", "a merge"],
)
def test_what_other_programs_write_is_read(tmp_path: Path, text: "str | bytes") -> None:
    assert read(tmp_path, text).settings.depth == "quick"


def test_a_date_is_text_even_where_the_calendar_has_none(tmp_path: Path) -> None:
    assert read(tmp_path, "api: {ollama_model: 2020-13-45}\n").api.ollama_model == "2020-13-45"


def test_a_group_may_be_written_once_and_used_again_with_a_change(tmp_path: Path) -> None:
    text = f"settings:\n  presets:\n    quick: &q {PRESET}\n    deep:\n      <<: *q\n      minutes: 3\n"
    presets = read(tmp_path, text).settings.presets
    assert (presets.quick.minutes, presets.deep.minutes, presets.deep.search) == (10, 3, 8)


def test_the_place_of_every_key_is_known(tmp_path: Path) -> None:
    file = tmp_path / "given.yaml"
    file.write_text("# mine\napi:\n  backend: ollama\n\nui: {notify: false}\n")
    values, where = read_mapping(file)
    assert values == {"api": {"backend": "ollama"}, "ui": {"notify": False}}
    assert {key: place.rsplit(" ", 1)[-1] for key, place in where.items()} == {"api": "2", "api.backend": "3", "ui": "5", "ui.notify": "5"}


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError):
        load(tmp_path / "pipe", env={})
    with pytest.raises(ConfigError, match="cannot be read"):
        read_mapping(tmp_path / "pipe")


def test_no_more_than_the_bound_is_read(tmp_path: Path) -> None:
    (tmp_path / "big").write_text("#" * (MAX_BYTES + 1))
    with pytest.raises(ConfigError, match="larger"):
        read_mapping(tmp_path / "big")
