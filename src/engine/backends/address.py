"""Addresses of model servers as people write them."""

import ipaddress
from urllib.parse import urlsplit

from deepdelve.core.errors import ConfigError


def server_url(written: str, *, key: str) -> str:
    """The address with a scheme and without a slash at its end; ``0.0.0.0`` means this machine.

    Args:
        written: what stands in the settings, such as ``127.0.0.1:11434``.
        key: the setting's name, for the error.

    Raises:
        ConfigError: it is no http address.
    """
    text = written.strip()
    url = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid or any(char.isspace() or ord(char) < 32 for char in text):
        raise ConfigError(f"{key} is not an address of a server: {text[:80]!r}.", f"Set {key} to something like http://127.0.0.1:11434.")
    return url.rstrip("/").replace("://0.0.0.0", "://127.0.0.1", 1)


def host_of(url: str) -> str:
    """The host's name, in lower case."""
    return (urlsplit(url).hostname or "").lower()


def is_local(url: str) -> bool:
    """Whether the server is this machine or one of its private network."""
    host = host_of(url)
    if host == "localhost" or host.endswith((".localhost", ".local")) or ("." not in host.strip("[]") and ":" not in host):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False
