"""Mooring: one-shot federated learning that holds.

An experiment is loaded, run, and answers with a record; `METHODS` are the methods that an experiment can name:

>>> from mooring import METHODS, load, run_experiment
>>> [experiment] = load(overrides=["data.limit=200", "encoder=none", "engine.workers=1", "out=runs/first"])
>>> result = run_experiment(experiment)
>>> result.method, result.accuracy > 0.9
('mooring', True)
>>> METHODS["v7"].about
'lambda = 5, faded out linearly'

The names here are public, and those that the packages listed in docs/api.md export. Modules whose name begins with an
underscore are private.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mooring.api import Run, Sweep, load_run, run, sweep
    from mooring.client import Alignment, ClientRecipe, Training
    from mooring.config import Experiment, load, load_fusions, parse
    from mooring.data import ImageSet, Source, as_source
    from mooring.errors import MooringError
    from mooring.execution import fuse, run_experiment
    from mooring.federation import load_model
    from mooring.fusion import Fusion, Predictor
    from mooring.losses import LossTerm
    from mooring.methods import METHODS, Method
    from mooring.notes import report
    from mooring.record import FusionRecord, Result, RunFolder
    from mooring.track import Callback
    from mooring.types import Balanced, Progress, Step, Upload, View
    from mooring.uploads import Part
    from mooring.weighting import Balancer, Equilibrium, LambdaBounds, Weighting, pull

_ROOMS = {
    "METHODS": "mooring.methods",
    "Alignment": "mooring.client",
    "Balanced": "mooring.types",
    "Balancer": "mooring.weighting",
    "Callback": "mooring.track",
    "ClientRecipe": "mooring.client",
    "Equilibrium": "mooring.weighting",
    "Experiment": "mooring.config",
    "Fusion": "mooring.fusion",
    "FusionRecord": "mooring.record",
    "ImageSet": "mooring.data",
    "LambdaBounds": "mooring.weighting",
    "LossTerm": "mooring.losses",
    "Method": "mooring.methods",
    "MooringError": "mooring.errors",
    "Part": "mooring.uploads",
    "Predictor": "mooring.fusion",
    "Progress": "mooring.types",
    "Result": "mooring.record",
    "Run": "mooring.api",
    "RunFolder": "mooring.record",
    "Source": "mooring.data",
    "Step": "mooring.types",
    "Sweep": "mooring.api",
    "Training": "mooring.client",
    "Upload": "mooring.types",
    "View": "mooring.types",
    "Weighting": "mooring.weighting",
    "as_source": "mooring.data",
    "fuse": "mooring.execution",
    "load": "mooring.config",
    "load_fusions": "mooring.config",
    "load_model": "mooring.federation",
    "load_run": "mooring.api",
    "parse": "mooring.config",
    "pull": "mooring.weighting",
    "report": "mooring.notes",
    "run": "mooring.api",
    "run_experiment": "mooring.execution",
    "sweep": "mooring.api",
}

__all__ = [
    "METHODS",
    "Alignment",
    "Balanced",
    "Balancer",
    "Callback",
    "ClientRecipe",
    "Equilibrium",
    "Experiment",
    "Fusion",
    "FusionRecord",
    "ImageSet",
    "LambdaBounds",
    "LossTerm",
    "Method",
    "MooringError",
    "Part",
    "Predictor",
    "Progress",
    "Result",
    "Run",
    "RunFolder",
    "Source",
    "Step",
    "Sweep",
    "Training",
    "Upload",
    "View",
    "Weighting",
    "as_source",
    "fuse",
    "load",
    "load_fusions",
    "load_model",
    "load_run",
    "parse",
    "pull",
    "report",
    "run",
    "run_experiment",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: importing the package does nothing and is fast."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'mooring' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return __all__
