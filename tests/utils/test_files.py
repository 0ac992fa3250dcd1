"""A file is whole or as it was: nothing is truncated first, and a full disk is one clear line."""

import errno
import os
import tempfile
from pathlib import Path

import pytest

from deepdelve.core.errors import DiskError
from deepdelve.utils.files import disk_error, write_bytes_atomic, write_text_atomic


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_a_file_and_its_folders_are_made(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "file.md"
    write_text_atomic(target, "café\n")
    assert target.read_bytes() == "café\n".encode()
    assert leftovers(target.parent) == []


def test_the_old_content_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "file.md"
    target.write_text("old and long " * 1000)
    write_text_atomic(target, "new", durable=True)
    assert target.read_text() == "new"


@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_the_mode_is_as_asked(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "file"
    write_bytes_atomic(target, b"x", mode=mode)
    assert target.stat().st_mode & 0o777 == mode


def test_lone_surrogates_do_not_cost_the_file(tmp_path: Path) -> None:
    write_text_atomic(tmp_path / "f", "a\ud800b")
    assert (tmp_path / "f").read_text() == "a?b"


def test_a_long_name_is_no_problem(tmp_path: Path) -> None:
    target = tmp_path / ("x" * 250)
    write_text_atomic(target, "y")
    assert target.read_text() == "y"


@pytest.mark.parametrize("step", ["write", "replace", "mkstemp", "fsync"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_failure_at_any_step_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int) -> None:
    target = tmp_path / "report.md"
    target.write_text("old")

    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(number, os.strerror(number))

    if step == "write":
        monkeypatch.setattr(os, "fdopen", failing_file(fail))
    elif step == "replace":
        monkeypatch.setattr(Path, "replace", fail)
    elif step == "mkstemp":
        monkeypatch.setattr(tempfile, "mkstemp", fail)
    else:
        monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DiskError) as caught:
        write_text_atomic(target, "new", durable=True)
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert leftovers(tmp_path) == []
    assert "report.md" in caught.value.line()
    assert caught.value.exit_code == 4


def failing_file(fail: object) -> object:
    """An fdopen whose files cannot be written."""
    real = os.fdopen

    def fdopen(handle: int, mode: str) -> object:
        file = real(handle, mode, buffering=0)

        class Full:
            def __enter__(self) -> "Full":
                return self

            def __exit__(self, *args: object) -> None:
                file.close()

            write = fail

        return Full()

    return fdopen


def test_an_unwritable_folder_is_named_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError) as caught:
        write_text_atomic(tmp_path / "file" / "below", "x")
    assert "DEEPDELVE_HOME" in caught.value.line()


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "no room"), (errno.EROFS, "read-only"), (errno.EDQUOT, "no room"), (errno.EACCES, "permissions")],
)
def test_what_the_system_says_is_told_with_what_to_do(number: int, words: str) -> None:
    line = disk_error(OSError(number, os.strerror(number)), Path("/runs/x/journal.jsonl")).line()
    assert words in line
    assert "journal.jsonl" in line
    assert "\n" not in line


def test_a_reader_never_sees_half_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "f"
    target.write_text("old")
    seen: list[str] = []
    real = Path.replace

    def replace(self: Path, other: Path) -> Path:
        seen.append(other.read_text())
        return real(self, other)

    monkeypatch.setattr(Path, "replace", replace)
    write_text_atomic(target, "new")
    assert (seen, target.read_text()) == (["old"], "new")
