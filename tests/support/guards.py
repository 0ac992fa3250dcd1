"""Keeps tests on this machine and out of the user's files.

Sockets may reach loopback only (names are refused before they are resolved), and nothing may open, list, make, rename or
remove anything in the real ``~/.deepdelve``. A breach raises at the spot and is noted as well, so that a test fails even
if the code under test swallows the exception.
"""

import ipaddress
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_INET = {socket.AF_INET, socket.AF_INET6}
_LOCAL_NAMES = {"", "localhost", "localhost."}
_FILE_EVENTS = {
    "open",
    "os.listdir",
    "os.scandir",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.truncate",
    "os.chmod",
    "os.link",
    "os.symlink",
    "os.utime",
    "sqlite3.connect",
}


class GuardBreach(AssertionError):
    """A test left the machine or touched the user's files."""


class Guards:
    """The breaches noted so far, and what is refused.

    Args:
        protected: the folder that nothing may touch.
        allowed_url: a server that a person named for this test run (``DEEPDELVE_TEST_BASE_URL``), or an empty string.
    """

    def __init__(self, protected: Path, allowed_url: str = "") -> None:
        self.protected = str(protected)
        self.allowed_host = urlsplit(allowed_url).hostname or ""
        self.breaches: list[str] = []

    def take(self) -> list[str]:
        """The breaches since the last call."""
        found, self.breaches = self.breaches, []
        return found

    def check_address(self, family: int, address: Any) -> None:
        """Refuse to send to an address that is not loopback."""
        if family in _INET and isinstance(address, tuple) and not self.local(address[0]):
            self.refuse(f"a socket to {address[0]}:{address[1]}")

    def check_name(self, host: Any) -> None:
        """Refuse to resolve a name; literal addresses are not looked up anywhere and pass."""
        if not self.local(host) and not _is_address(host):
            self.refuse(f"a look-up of the name {host!r}")

    def check_path(self, path: Any) -> None:
        """Refuse a path in the protected folder."""
        if isinstance(path, (bytes, os.PathLike)):
            path = os.fsdecode(path)
        if isinstance(path, str) and (path == self.protected or path.startswith(self.protected + os.sep)):
            self.refuse(f"the user's own {path}")

    def local(self, host: Any) -> bool:
        """Whether the host is this machine, or the one server that a person named."""
        text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        if text.lower() in _LOCAL_NAMES or (self.allowed_host and text == self.allowed_host):
            return True
        return _is_address(text) and _is_loopback(text)

    def refuse(self, what: str) -> None:
        """Note a breach and raise it."""
        self.breaches.append(what)
        raise GuardBreach(f"The test reached for {what}.")


def install(guards: Guards) -> None:
    """Put the guards in force for the rest of the process."""
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, _address_last(getattr(socket.socket, name), guards))
    socket.socket.sendto = _address_last(socket.socket.sendto, guards)
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        setattr(socket, name, _name_first(getattr(socket, name), guards))
    sys.addaudithook(_file_hook(guards))


def _address_last(original: Callable[..., Any], guards: Guards) -> Callable[..., Any]:
    def guarded(sock: socket.socket, *args: Any) -> Any:
        guards.check_address(sock.family, args[-1])
        return original(sock, *args)

    return guarded


def _name_first(original: Callable[..., Any], guards: Guards) -> Callable[..., Any]:
    def guarded(host: Any, *args: Any, **kwargs: Any) -> Any:
        guards.check_name(host)
        return original(host, *args, **kwargs)

    return guarded


def _file_hook(guards: Guards) -> Callable[[str, tuple[Any, ...]], None]:
    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in _FILE_EVENTS:
            for path in args[:2]:
                guards.check_path(path)

    return hook


def _is_address(host: Any) -> bool:
    try:
        ipaddress.ip_address(str(host).split("%", 1)[0])
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    address = ipaddress.ip_address(host.split("%", 1)[0])
    return address.is_loopback or address.is_unspecified
