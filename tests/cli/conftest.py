"""The command line over a scripted engine."""

import logging
import sys
from collections.abc import Callable, Iterator

import pytest

import deepdelve.engine
from deepdelve.cli.main import main
from tests.cli.fake_facade import FakeFacade


@pytest.fixture
def facade(monkeypatch: pytest.MonkeyPatch) -> FakeFacade:
    """The scripted engine in the real one's place."""
    fake = FakeFacade()
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    monkeypatch.setattr(deepdelve.engine, "facade", fake, raising=False)
    return fake


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """A command takes the root logger into use; the test gives it back."""
    root = logging.getLogger()
    handlers, level, raising = [*root.handlers], root.level, logging.raiseExceptions
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:], logging.raiseExceptions = handlers, raising
    root.setLevel(level)


class Said:
    """What a command printed and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def deepdelve_says(facade: FakeFacade, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Runs the command line with these arguments."""

    def run(*arguments: str) -> Said:
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return run
