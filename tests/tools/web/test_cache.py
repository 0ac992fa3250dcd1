"""The cache gives back whole bodies or nothing, is private, and stays within its size."""

import os
import stat
from pathlib import Path

import pytest

from deepdelve.core.errors import DiskError
from deepdelve.tools.web import cache as module
from deepdelve.tools.web.cache import CachedBody, PageCache, default_folder

URL = "https://h.example/a"


def entry(url: str = URL, body: bytes = b"line one\nline two\n", etag: str = '"1"') -> CachedBody:
    return CachedBody(url=url, content_type="text/html", etag=etag, fetched_at="2026-01-01T00:00:00+00:00", body=body)


def test_a_body_comes_back_as_it_was_with_its_validators(tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "pages")
    cache.store(entry())
    found = cache.load(URL)
    assert found is not None
    assert (found.body, found.content_type, found.fetched_at) == (b"line one\nline two\n", "text/html", "2026-01-01T00:00:00+00:00")
    assert found.validators == {"If-None-Match": '"1"'}
    assert cache.load("https://h.example/b") is None


def test_only_what_can_be_asked_about_again_is_kept(tmp_path: Path) -> None:
    cache = PageCache(tmp_path)
    cache.store(entry(etag=""))
    assert cache.load(URL) is None


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-3], lambda data: b"{}" + data, lambda _: b"", lambda data: data.replace(b"one", b"two"), lambda _: b"\xff\xfe\n"],
)
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, damage: object) -> None:
    cache = PageCache(tmp_path)
    cache.store(entry())
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert cache.load(URL) is None


def test_a_file_of_another_address_is_not_taken(tmp_path: Path) -> None:
    cache = PageCache(tmp_path)
    cache.store(entry())
    (file,) = tmp_path.iterdir()
    cache.store(entry("https://h.example/b"))
    other = next(path for path in tmp_path.iterdir() if path != file)
    other.replace(file)
    assert cache.load(URL) is None


@pytest.mark.skipif(os.name != "posix", reason="permission bits")
def test_files_are_private_and_names_are_no_paths(tmp_path: Path) -> None:
    PageCache(tmp_path).store(entry("https://h.example/../../etc/passwd"))
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(file.name) == 64


def test_the_longest_unused_go_when_there_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PRUNE_EVERY", 1)
    cache = PageCache(tmp_path, max_total=10_000)
    for n in range(6):
        cache.store(entry(f"https://h.example/{n}", b"x" * 2000))
        for file in tmp_path.iterdir():
            os.utime(file, (file.stat().st_atime - 100, file.stat().st_mtime - 100))
    assert cache.load("https://h.example/0") is None
    assert cache.load("https://h.example/5") is not None
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 10_000
    cache.store(entry("https://h.example/huge", b"x" * 5000))
    assert cache.load("https://h.example/huge") is None


def test_a_full_disk_only_means_that_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise DiskError("There is no room.")

    monkeypatch.setattr(module, "write_bytes_atomic", full)
    cache = PageCache(tmp_path)
    cache.store(entry())
    assert cache.load(URL) is None


def test_the_folder_is_the_platforms_unless_the_home_is_moved(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_folder() == isolated / "cache" / "pages"
    monkeypatch.delenv("DEEPDELVE_HOME")
    assert default_folder().parts[-2:] == ("deepdelve", "pages")
