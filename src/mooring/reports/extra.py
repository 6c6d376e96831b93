"""Libraries of the `report` extra, imported when they are needed and not before."""

from importlib import import_module
from typing import Any

from mooring.errors import ExtraError


def needed(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ExtraError(f"{package}: is not installed", "pip install 'mooring[report]'") from None
