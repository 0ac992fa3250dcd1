"""A path that cannot be one is refused in a line, wherever a person gives it."""

from pathlib import Path

import pytest

from deepdelve.core.errors import ConfigError, UsageError
from deepdelve.core.paths import check_home, given_path

IMPOSSIBLE = {
    "empty": "",
    "blank": " \t",
    "too long": "x" * 5000,
    "one part too long": "/" + "x" * 300,
    "a zero byte": "a\0b",
    "a user that is not there": "~nobody-of-this-name/x",
}


@pytest.mark.parametrize("text", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_can_be_no_path_is_one_short_line(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        given_path(text)
    assert caught.value.exit_code == 2
    assert len(caught.value.line()) < 250
    assert caught.value.remedy


def test_a_path_need_not_be_there(tmp_path: Path) -> None:
    assert given_path(str(tmp_path / "none")) == tmp_path / "none"


def test_the_home_of_the_person_is_meant_by_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert given_path("~/papers") == tmp_path / "papers"


@pytest.mark.parametrize("text", [text for text in IMPOSSIBLE.values() if text and "\0" not in text])
def test_a_home_that_can_be_none_is_a_fault_of_its_variable(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPDELVE_HOME", text)
    with pytest.raises(ConfigError, match=r"^DEEPDELVE_HOME: "):
        check_home()


def test_a_home_that_is_a_file_is_a_fault_and_one_that_is_not_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loose").symlink_to("gone")
    for wrong in ("file", "loose"):
        monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path / wrong))
        with pytest.raises(ConfigError, match="is no folder"):
            check_home()
    monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path / "new"))
    check_home()
    monkeypatch.delenv("DEEPDELVE_HOME")
    check_home()
