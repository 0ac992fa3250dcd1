"""The guards themselves: loopback passes, the rest of the world and the user's files do not."""

import asyncio
import os
import socket
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import GUARDS
from tests.support.guards import GuardBreach, Guards

pytest_plugins = ["pytester"]


@pytest.fixture
def noted() -> Iterator[list[str]]:
    """The breaches that the test made on purpose; they are taken back at its end."""
    yield GUARDS.breaches
    GUARDS.take()


@pytest.mark.parametrize("address", [("93.184.216.34", 80), ("8.8.8.8", 53), ("10.0.0.1", 1)])
def test_a_socket_beyond_loopback_is_refused(address: tuple[str, int], noted: list[str]) -> None:
    with socket.socket() as sock, pytest.raises(GuardBreach, match=address[0]):
        sock.connect(address)
    assert noted


def test_connect_ex_and_datagrams_are_refused_too(noted: list[str]) -> None:
    with socket.socket() as sock, pytest.raises(GuardBreach):
        sock.connect_ex(("93.184.216.34", 80))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, pytest.raises(GuardBreach):
        sock.sendto(b"x", ("93.184.216.34", 53))
    assert len(noted) == 2


@pytest.mark.usefixtures("noted")
def test_names_are_refused_before_they_are_looked_up() -> None:
    for look_up in (lambda: socket.getaddrinfo("example.org", 80), lambda: socket.gethostbyname("example.org")):
        with pytest.raises(GuardBreach, match=r"example\.org"):
            look_up()


@pytest.mark.usefixtures("noted")
async def test_the_event_loop_is_guarded_as_well() -> None:
    with pytest.raises(GuardBreach):
        await asyncio.open_connection("example.org", 80)


def test_loopback_works() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("localhost", port)) as client:
            assert client.getpeername()[1] == port


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "", None, b"localhost", "0.0.0.0"])
def test_these_are_this_machine(host: object) -> None:
    assert Guards(Path("/nowhere")).local(host)


@pytest.mark.parametrize("host", ["example.org", "localhost.example.org", "128.0.0.1", "fe80::1%eth0", "::ffff:8.8.8.8"])
def test_these_are_not(host: str) -> None:
    assert not Guards(Path("/nowhere")).local(host)


def test_a_server_that_a_person_named_is_allowed() -> None:
    guards = Guards(Path("/nowhere"), "http://model.example:8000/v1")
    assert guards.local("model.example")
    assert not guards.local("other.example")


@pytest.mark.parametrize(
    "touch",
    [
        lambda path: path.open(),
        lambda path: path.write_text("x"),
        lambda path: list(path.parent.iterdir()),
        lambda path: path.mkdir(parents=True),
        lambda path: path.unlink(),
        lambda path: sqlite3.connect(path),
        lambda path: path.with_name("a").replace(path),
    ],
)
def test_the_real_home_is_refused(touch: Callable[[Path], object], noted: list[str]) -> None:
    with pytest.raises(GuardBreach, match="user's own"):
        touch(Path(GUARDS.protected, "config.yaml"))
    assert noted


def test_a_neighbour_with_a_like_name_is_not_the_home(tmp_path: Path) -> None:
    guards = Guards(tmp_path / ".deepdelve")
    guards.check_path(str(tmp_path / ".deepdelve2" / "x"))
    assert not guards.breaches


def test_home_and_environment_are_the_tests_own(tmp_path: Path) -> None:
    assert Path(os.environ["DEEPDELVE_HOME"]).is_relative_to(tmp_path)
    assert Path.home().is_relative_to(tmp_path)
    left = [name for name in os.environ if name.startswith("DEEPDELVE_")]
    assert set(left) <= {"DEEPDELVE_HOME", "DEEPDELVE_TEST_BASE_URL"}
    assert "NO_COLOR" not in os.environ


def test_a_breach_that_the_code_swallows_still_fails_the_test(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(
        """
        import contextlib, socket
        def test_quiet():
            with contextlib.suppress(Exception):
                socket.getaddrinfo("example.org", 80)
        """
    )
    pytester.makeconftest("from tests.conftest import isolated, pytest_configure  # noqa")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parent.parent))
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*The test reached for a look-up of the name 'example.org'*"])
