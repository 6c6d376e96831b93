"""Show runs in TensorBoard and MLflow."""

from pathlib import Path

from mooring.track._callback import Callback, Live, Wandb, listener
from mooring.track._dashboard import Tracker, runs_in
from mooring.track._trackers import Mlflow, TensorBoard

TRACKERS: dict[str, type[Tracker]] = {"mlflow": Mlflow, "tensorboard": TensorBoard}


def track(folder: Path, tracker: Tracker) -> list[str]:
    """Show a run, or every run of a sweep, as far as it has come; return the names. Repeating adds nothing twice."""
    names = []
    for run, settings in runs_in(folder):
        tracker.write(run, settings)
        names.append(run.name)
    return names


__all__ = ["TRACKERS", "Callback", "Live", "Mlflow", "TensorBoard", "Tracker", "Wandb", "listener", "track"]
