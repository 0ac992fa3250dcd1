"""Packages that only some features need."""

import pytest

from deepdelve.core.errors import ConfigError
from deepdelve.utils.extras import require


def test_what_is_there_passes() -> None:
    require("vault", "json", "sqlite3")


def test_what_is_missing_is_named_with_its_extra() -> None:
    with pytest.raises(ConfigError, match="no_such_module") as caught:
        require("vault", "json", "no_such_module")
    assert caught.value.remedy == 'Run: pip install "deepdelve[vault]"'
