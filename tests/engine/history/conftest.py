"""A home to search."""

from pathlib import Path

import pytest

from tests.engine.history.support import Home


@pytest.fixture
def home(isolated: Path) -> Home:
    return Home(isolated)
