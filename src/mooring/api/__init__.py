"""The short way from Python: `mooring.run`, `mooring.sweep`, and what they return."""

from mooring.api._run import load_run, run
from mooring.api._run_result import Run
from mooring.api._sweep import Sweep, sweep

__all__ = ["Run", "Sweep", "load_run", "run", "sweep"]
