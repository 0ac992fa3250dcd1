"""The API as an application, and its server. On this machine only, unless a password is set."""

import contextlib
import errno
import importlib.util
import socket
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any

from deepdelve import __version__
from deepdelve.api.guard import App, Guard, check_binding
from deepdelve.config import Settings
from deepdelve.core.errors import ConfigError
from deepdelve.engine import facade

if TYPE_CHECKING:
    from fastapi import FastAPI

    from deepdelve.api.live import LiveRuns
    from deepdelve.engine.bounded.service import VaultService

_STOP_SECONDS = 5
_REMEDIES = {
    errno.EADDRINUSE: "Another program uses the port; choose another with serve.port or --port.",
    errno.EACCES: "Ports below 1024 are the system's; choose another with serve.port or --port.",
}


def create_app(settings: Settings, service: "VaultService | None" = None, runs: "LiveRuns | None" = None) -> "FastAPI":
    """The API without its guard: routes, and what carries out runs for as long as the server lives.

    Args:
        settings: the settings in force.
        service: who carries out bounded runs; opened when the server starts where None.
        runs: who carries out general runs.
    """
    from fastapi import FastAPI
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    from deepdelve.api import problems
    from deepdelve.api.live import LiveRuns
    from deepdelve.api.research import research_router
    from deepdelve.api.runs import runs_router

    live = runs or LiveRuns(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        app.state.service = service or facade.vaults().service(settings)
        yield
        await live.close()
        await app.state.service.close()

    app = FastAPI(title="DeepDelve", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.runs = live
    if service is not None:
        app.state.service = service
    app.add_exception_handler(RequestValidationError, problems.unfit)
    app.add_exception_handler(HTTPException, problems.refused)
    app.add_exception_handler(Exception, problems.broken)
    app.include_router(runs_router())
    app.include_router(research_router())

    def health() -> dict[str, str]:
        """Whether the API is up."""
        return {"status": "ok", "version": __version__}

    def shown() -> dict[str, Any]:
        """The settings in force, secrets masked."""
        return facade.vaults().shown_settings(settings)

    app.get("/health", tags=["server"])(health)
    app.get("/settings", tags=["server"])(shown)
    return app


def guarded(app: Any, settings: Settings) -> App:
    """The API behind its guard."""
    return Guard(app, settings)


def serve(settings: Settings, say: Callable[[str], object]) -> None:
    """Serve until a signal ends it; runs that go on then are cancelled, and their rows say so.

    Raises:
        ConfigError: the server's packages are not installed, or it may not or cannot listen there.
        DiskError: the ledger cannot be written.
        StateError: the ledger cannot be read.
    """
    if any(importlib.util.find_spec(name) is None for name in ("fastapi", "uvicorn", "sqlalchemy", "alembic")):
        raise ConfigError("The API's packages are not installed.", 'Run: pip install "deepdelve[server]"')
    check_binding(settings)
    import uvicorn

    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(contextlib.closing(sock)) for sock in listening(settings.serve.host, settings.serve.port)]
        service = facade.vaults().service(settings)
        held.callback(service.database.close)
        app = guarded(create_app(settings, service), settings)
        config = uvicorn.Config(app, log_level="warning", server_header=False, timeout_graceful_shutdown=_STOP_SECONDS)
        where = _shown(settings.serve.host, sockets[0].getsockname()[1])
        say(f"DeepDelve listens on http://{where}; its description is at /openapi.json. Ctrl-C ends it.")
        uvicorn.Server(config).run(sockets=sockets)


def listening(host: str, port: int) -> list[socket.socket]:
    """A socket for each address that a host name stands for.

    Raises:
        ConfigError: the API cannot listen there.
    """
    made: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
            sock = socket.socket(family, socket.SOCK_STREAM)
            made.append(sock)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind(address)
    except (OSError, UnicodeError) as error:
        for sock in made:
            sock.close()
        remedy = _REMEDIES.get(getattr(error, "errno", None) or 0, "Give serve.host an address of this machine.")
        raise ConfigError(f"The API cannot listen on {_shown(host, port)}.", remedy) from error
    return made


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
