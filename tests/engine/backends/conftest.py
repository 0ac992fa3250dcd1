"""Tests of backends have a home of their own and no key from the environment."""

import os

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path / "dd_home"))
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
