"""Packages that only some features need, and that the base install therefore leaves out."""

import importlib.util

from deepdelve.core.errors import ConfigError


def require(extra: str, *modules: str) -> None:
    """See that the packages of an extra are there.

    Raises:
        ConfigError: one of these modules is missing; names the extra.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"The packages of this feature are not installed ({missing[0]}).", f'Run: pip install "deepdelve[{extra}]"')
