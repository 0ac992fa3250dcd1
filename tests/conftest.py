"""Every test has a home of its own, sees no setting of the machine, and stays on loopback."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.guards import Guards, install

TEST_SERVER = "DEEPDELVE_TEST_BASE_URL"
_MOVES_FILES = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
GUARDS = Guards(Path.home() / ".deepdelve", os.environ.get(TEST_SERVER, ""))


def pytest_configure() -> None:
    install(GUARDS)
    # How long an example takes says more of the machine than of the code.
    settings.register_profile("any machine", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home in the test's own folder, a clean environment, and a failure for each breach of the guards."""
    for name in [*os.environ]:
        if name.startswith("DEEPDELVE_") and name != TEST_SERVER:
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "TEXTUAL_ANIMATIONS", *_MOVES_FILES):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "dd_home"
    monkeypatch.setenv("DEEPDELVE_HOME", str(home))
    monkeypatch.setenv("HOME", str(tmp_path / "user_home"))
    GUARDS.take()
    yield home
    breaches = GUARDS.take()
    if breaches:
        pytest.fail("The test reached for " + "; ".join(breaches) + ".")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Raw bytes and long texts make no test ids: a document built in a test holds the second of its making, and every worker needs the same ids."""
    if isinstance(val, bytes):
        return "bytes"
    return f"text{len(val)}" if isinstance(val, str) and len(val) > 200 else None
