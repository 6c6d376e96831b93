"""Logs of the published code: what their lines say, and nothing that they do not."""

from mooring.published.logged import Logged, Said
from mooring.published.parse import read_logs

__all__ = ["Logged", "Said", "read_logs"]
