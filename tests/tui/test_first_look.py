"""The colours of the first frame, from variable or file, whatever the file is."""

from pathlib import Path

import pytest

from deepdelve.config import Settings, template_path
from deepdelve.tui.first_look import DEFAULT_THEME, theme


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path))
    monkeypatch.delenv("DEEPDELVE_UI__THEME", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ui:\n  theme: nord\n", "nord"),
        ("api:\n  theme: wrong\nui:\n  # theme: no\n  notify: true\n  theme: 'textual-light'  # bright\n", "textual-light"),
        ('# c\nui:   # look\n    theme: "gruvbox"\n', "gruvbox"),
        ("ui:\n  notify: true\nsearch:\n  theme: wrong\n", DEFAULT_THEME),
        ("ui: {theme: nord}\n", DEFAULT_THEME),
        ("\x00\xff[/]: :\n", DEFAULT_THEME),
        ("", DEFAULT_THEME),
    ],
)
def test_the_file_names_the_theme(text: str, expected: str, home: Path) -> None:
    (home / "config.yaml").write_text(text, encoding="latin-1")
    assert theme() == expected


def test_without_a_file_it_is_the_default_of_the_settings() -> None:
    assert theme() == DEFAULT_THEME == Settings().ui.theme
    assert theme(template_path()) == DEFAULT_THEME


def test_the_variable_counts_more(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.yaml").write_text("ui:\n  theme: nord\n")
    monkeypatch.setenv("DEEPDELVE_UI__THEME", "dracula")
    assert theme() == "dracula"


def test_what_cannot_be_read_is_left_for_later(home: Path) -> None:
    (home / "config.yaml").mkdir()
    assert theme() == DEFAULT_THEME
