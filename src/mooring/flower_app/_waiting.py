"""Wait until a SuperLink that was just started takes connections."""

import socket
from time import monotonic, sleep

from mooring.errors import FederationError

PAUSE_SECONDS = 0.2  # between two attempts


def wait_for(address: str, seconds: float) -> None:
    """Come back as soon as something listens there, and fail when nothing does within so many seconds."""
    host, port = node_folder(address)
    end = monotonic() + seconds
    while not listens(host, port):
        if monotonic() >= end:
            raise FederationError(
                f"{address}: nothing listened there for {seconds:g} seconds",
                "the log of flower-superlink says whether it runs, and where",
            )
        sleep(PAUSE_SECONDS)


def node_folder(address: str) -> tuple[str, int]:
    """`127.0.0.1:8000` -> host and port"""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise FederationError(f"{address!r}: is not an address", "write HOST:PORT, for example 127.0.0.1:8000")
    return host.strip("[]"), int(port)


def listens(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=5):
            return True
    except socket.gaierror:
        raise FederationError(f"{host}: no machine is known by that name", "write its address") from None
    except OSError:
        return False
