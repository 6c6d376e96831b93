"""Who runs the clients, and where: an engine is called once, because one-shot is a type."""

from mooring.engines._local import Local, device_of_server

__all__ = [
    "Local",
    "device_of_server",
]
