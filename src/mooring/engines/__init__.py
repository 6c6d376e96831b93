"""Who runs the clients, and where: an engine is called once, because one-shot is a type."""

from mooring.engines.local import Local

__all__ = ["Local"]
