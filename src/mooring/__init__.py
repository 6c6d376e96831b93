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
    from mooring.client import Alignment, ClientRecipe, Training
    from mooring.config import Experiment, load, load_fusions, parse
    from mooring.data import ImageSet, Source
    from mooring.errors import MooringError
    from mooring.execution import fuse, run_experiment
    from mooring.federation import load_model
    from mooring.fusion import Fusion, Predictor
    from mooring.losses import LossTerm
    from mooring.methods import METHODS, Method
    from mooring.notes import report
    from mooring.record import FusionRecord, Result, RunFolder
    from mooring.types import Balanced, Progress, Step, Upload, View
    from mooring.uploads import Part
    from mooring.weighting import Balancer, Equilibrium, LambdaBounds, Weighting, pull

_ROOMS = {
    "METHODS": "mooring.methods",
    "Alignment": "mooring.client",
    "Balanced": "mooring.types",
    "Balancer": "mooring.weighting",
    "ClientRecipe": "mooring.client",
    "Experiment": "mooring.config",
    "Fusion": "mooring.fusion",
    "FusionRecord": "mooring.record",
    "ImageSet": "mooring.data",
    "LossTerm": "mooring.losses",
    "Method": "mooring.methods",
    "MooringError": "mooring.errors",
    "LambdaBounds": "mooring.weighting",
    "Part": "mooring.uploads",
    "Predictor": "mooring.fusion",
    "Progress": "mooring.types",
    "Result": "mooring.record",
    "RunFolder": "mooring.record",
    "Source": "mooring.data",
    "Equilibrium": "mooring.weighting",
    "Step": "mooring.types",
    "Training": "mooring.client",
    "Upload": "mooring.types",
    "View": "mooring.types",
    "Weighting": "mooring.weighting",
    "fuse": "mooring.execution",
    "load": "mooring.config",
    "load_fusions": "mooring.config",
    "load_model": "mooring.federation",
    "parse": "mooring.config",
    "pull": "mooring.weighting",
    "report": "mooring.notes",
    "run_experiment": "mooring.execution",
}

__all__ = [
    "METHODS",
    "Alignment",
    "Balanced",
    "Balancer",
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
    "RunFolder",
    "Source",
    "Step",
    "Training",
    "Upload",
    "View",
    "Weighting",
    "fuse",
    "load",
    "load_fusions",
    "load_model",
    "parse",
    "pull",
    "report",
    "run_experiment",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: importing the package does nothing and is fast."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'mooring' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return __all__
