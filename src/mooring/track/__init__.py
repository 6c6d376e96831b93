"""Runs in other people's dashboards. A tracker is a value; the dictionary names them."""

from pathlib import Path

from mooring.track._dashboard import Tracker, runs_in, tracked_run
from mooring.track._mlflow import Mlflow
from mooring.track._tensorboard import TensorBoard

TRACKERS: dict[str, type[Tracker]] = {"mlflow": Mlflow, "tensorboard": TensorBoard}


def track(folder: Path, tracker: Tracker) -> list[str]:
    """Show a run, or every run of a sweep, as far as it has come; the names it has there. Again is not twice."""
    names = []
    for name, run in runs_in(folder):
        tracker.write(tracked_run(run, name))
        names.append(name)
    return names


__all__ = ["TRACKERS", "Mlflow", "TensorBoard", "Tracker", "track"]
