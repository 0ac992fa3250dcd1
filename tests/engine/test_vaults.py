"""What surfaces reach of vault research, and what they are told where its packages are missing."""

import importlib.util

import pytest

from deepdelve.core.errors import ConfigError
from deepdelve.engine import facade


def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "sqlalchemy" else find(name, *more))
    with pytest.raises(ConfigError, match="not installed") as caught:
        facade.vaults()
    assert "deepdelve[vault]" in caught.value.remedy


def test_the_functions_of_the_feature_stand_in_one_place() -> None:
    found = facade.vaults()
    assert all(callable(getattr(found, name)) for name in ("service", "vault_of", "line", "add", "check", "lint", "verify"))
