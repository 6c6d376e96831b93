"""Dashboards that follow a run while it goes on."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mooring.config import Experiment
from mooring.errors import needed
from mooring.events import Event, SnapshotFused
from mooring.record import RunFolder, RunRecord
from mooring.track._callback import Callback
from mooring.track._dashboard import Tracker, final_metrics, settings_of


class Live(Callback):
    """Updates TensorBoard or MLflow after every fused round: `Live(TensorBoard(Path("tensorboard")))`."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker

    def on_start(self, experiment: Experiment, folder: Path) -> None:
        self.tracker.require()
        self.folder = folder

    def on_event(self, event: Event) -> None:
        if isinstance(event, SnapshotFused):
            self.write()

    def on_end(self, run: RunRecord) -> None:
        self.write()

    def write(self) -> None:
        folder = RunFolder(self.folder)
        self.tracker.write(replace(folder.record, name=folder.path.absolute().name), settings_of(folder))


class Wandb(Callback):
    """Logs every number to Weights & Biases as it is measured; `mode="offline"` keeps it on this machine."""

    def __init__(self, project: str = "mooring", **options: Any) -> None:
        self.options = {"project": project, "mode": "offline", **options}

    def on_start(self, experiment: Experiment, folder: Path) -> None:
        self.run = needed("wandb").init(name=folder.name, config=experiment.tree(), **self.options)

    def on_metric(self, name: str, value: float, round_: int) -> None:
        self.run.log({name: value, "round": round_})

    def on_end(self, run: RunRecord) -> None:
        self.run.summary.update(final_metrics(run))
        self.run.finish()
