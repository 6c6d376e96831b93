"""A socket, and uvicorn on it until Ctrl-C."""

import socket

import uvicorn
from starlette.types import ASGIApp

from mooring.errors import ConfigError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
CONNECTIONS = 128  # open at once
LAST_SECONDS = 1  # that answers get after Ctrl-C


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections; an address that cannot be used is a mistake of the user."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError([f"--host {host} --port {port}: cannot listen there ({reason}); name another"]) from None


def make_server(app: ASGIApp) -> uvicorn.Server:
    """Answers under way get a moment after Ctrl-C. No request is logged: names of files may be in it."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            lifespan="off",
            loop="asyncio",
            http="h11",
            ws="none",
            limit_concurrency=CONNECTIONS,
            server_header=False,
            timeout_graceful_shutdown=LAST_SECONDS,
        )
    )
