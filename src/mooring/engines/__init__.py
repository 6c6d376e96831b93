"""Who runs the clients: an engine is called once, because one-shot is a type."""

from mooring.engines.base import Engine
from mooring.engines.local import Local

ENGINES: dict[str, type[Engine]] = {"local": Local}

__all__ = ["ENGINES", "Engine", "Local"]
