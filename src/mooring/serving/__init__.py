"""A model over HTTP: an image is posted, a class comes back; with a page for people. Extra `serve`."""

from mooring.serving._app import application
from mooring.serving._limits import ServingLimits
from mooring.serving._server import LOOPBACK, listen, make_server

__all__ = ["LOOPBACK", "ServingLimits", "application", "listen", "make_server"]
