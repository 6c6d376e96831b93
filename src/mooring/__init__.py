"""Mooring: one-shot federated learning that holds.

from mooring import load, run
result = run(load(overrides=["method=v7", "seed=3"])[0])
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mooring.client import Alignment, ClientRecipe, Training
    from mooring.config import Experiment, load, load_fusions, parse
    from mooring.errors import MooringError
    from mooring.methods import METHODS, Method
    from mooring.reports import report
    from mooring.simulation import fuse, run

_ROOMS = {
    "METHODS": "mooring.methods",
    "Alignment": "mooring.client",
    "ClientRecipe": "mooring.client",
    "Experiment": "mooring.config",
    "Method": "mooring.methods",
    "MooringError": "mooring.errors",
    "Training": "mooring.client",
    "fuse": "mooring.simulation",
    "load": "mooring.config",
    "load_fusions": "mooring.config",
    "parse": "mooring.config",
    "report": "mooring.reports",
    "run": "mooring.simulation",
}

__all__ = [
    "METHODS",
    "Alignment",
    "ClientRecipe",
    "Experiment",
    "Method",
    "MooringError",
    "Training",
    "fuse",
    "load",
    "load_fusions",
    "parse",
    "report",
    "run",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: importing the package does nothing and is fast."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'mooring' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)
