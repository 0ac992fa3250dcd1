"""Who may speak to the API: the Host that is ours, no foreign Origin, and the password where one is set."""

import base64
import binascii
import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from deepdelve.config import Settings
from deepdelve.core.errors import ConfigError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 65_536
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_binding(settings: Settings) -> None:
    """Whether the API may listen where the settings say.

    Raises:
        ConfigError: beyond this machine only with a password.
    """
    if not is_loopback(settings.serve.host) and not settings.serve.password.get_secret_value():
        raise ConfigError(
            f"The API listens on {settings.serve.host[:60]} only with a password.",
            "Set DEEPDELVE_SERVE__PASSWORD, or listen on 127.0.0.1.",
        )


class Guard:
    """Turns away what must not reach the API, before anything of the request is looked at.

    Args:
        app: the API.
        settings: host, password and further names.
    """

    def __init__(self, app: App, settings: Settings) -> None:
        self._app = app
        self._password = settings.serve.password.get_secret_value()
        self._names = _names(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Part of ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope, headers: dict[bytes, str]) -> tuple[int, str, str] | None:
        host = headers.get(b"host", "")
        if self._names and _name_of(host) not in self._names:
            return 421, "wrong_host", "This API is not served under that name. Add it to serve.allowed_hosts if it should be."
        origin = headers.get(b"origin", "")
        if origin and urlsplit(origin).netloc.lower() != host.lower():
            return 403, "foreign_page", "Requests from the pages of other sites are refused."
        if headers.get(b"sec-fetch-site", "none") == "cross-site":
            return 403, "foreign_page", "Requests from the pages of other sites are refused."
        length = headers.get(b"content-length", "0")
        if not length.isdigit() or int(length[:12]) > MAX_BODY or headers.get(b"transfer-encoding"):
            return 413, "too_long", "The request is too long, or does not say how long it is."
        if self._password and not self._knows(headers.get(b"authorization", "")):
            return 401, "unauthorized", "Give the password as a bearer token."
        return None

    def _knows(self, given: str) -> bool:
        scheme, _, value = given.partition(" ")
        if scheme.lower() == "basic":
            try:
                value = base64.b64decode(value, validate=True).decode("utf-8").partition(":")[2]
            except (binascii.Error, UnicodeDecodeError):
                return False
        elif scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(value.strip().encode(), self._password.encode())


def _names(settings: Settings) -> frozenset[str]:
    """The names under which the API may be addressed; beyond this machine, and without names in the settings, any."""
    host, named = settings.serve.host, [name.lower() for name in settings.serve.allowed_hosts]
    if not is_loopback(host) and not named and host in {"0.0.0.0", "::"}:
        return frozenset()
    return frozenset({*_LOCAL_NAMES, host.lower(), *named})


def _name_of(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


async def _refuse(send: Send, status: int, code: str, detail: str) -> None:
    body = json.dumps({"code": code, "detail": detail}).encode()
    headers: Iterable[tuple[bytes, bytes]] = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers = [*headers, (b"www-authenticate", b"Bearer")] if status == 401 else headers
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": body})
