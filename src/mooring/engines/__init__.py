"""Who runs the clients, and where: an engine is called once, because one-shot is a type."""

from mooring.client import Engine
from mooring.engines._local import Local, device_of_server
from mooring.engines.flower import Flower

ENGINES: dict[str, type[Engine]] = {"local": Local, "flower": Flower}

__all__ = [
    "ENGINES",
    "Local",
    "device_of_server",
]
