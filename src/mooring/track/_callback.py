"""Watch a run while it goes on."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from mooring.config import Experiment
from mooring.errors import needed
from mooring.events import ClientRecord, Emit, Event, SnapshotFused
from mooring.record import RunFolder, RunRecord
from mooring.track._dashboard import Tracker, client_metrics, final_metrics, plain_settings


class Callback:
    """Watches a run. Override what you need; every method does nothing by default.

    An exception stops the run, as Ctrl-C does. The same call of `mooring.run` then continues it.

    >>> import mooring
    >>> class Printer(mooring.Callback):
    ...     def on_metric(self, name, value, round_):
    ...         if name == "accuracy":
    ...             print(f"round {round_ + 1} done")
    >>> result = mooring.run("afl", limit=100, out="runs/watched", callbacks=[Printer()], verbose=False)
    round 1 done
    """

    def on_start(self, experiment: Experiment, folder: Path) -> None:
        """Before anything is read. `experiment.tree()` holds all settings."""

    def on_event(self, event: Event) -> None:
        """Everything that happens: see `mooring.events`."""

    def on_metric(self, name: str, value: float, round_: int) -> None:
        """A number of a round, counted from 0: `accuracy` of the fused model, or `lambda_felt/client-3`."""

    def on_end(self, run: RunRecord) -> None:
        """After the result was written."""


def listener(callbacks: Sequence[Callback]) -> Emit:
    """Hands every event of a run to these callbacks."""

    def listen(event: Event) -> None:
        for callback in callbacks:
            callback.on_event(event)
            for name, round_, value in metrics_in(event):
                callback.on_metric(name, value, round_)

    return listen


def metrics_in(event: Event) -> Iterator[tuple[str, int, float]]:
    """The finite numbers of an event, as dashboards name them."""
    match event:
        case SnapshotFused(round=round_, accuracy=float(accuracy)):
            yield "accuracy", round_, accuracy
        case ClientRecord() as row:
            for name, value in client_metrics(row):
                if value is not None and isfinite(value):
                    yield name, row.round, value


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
        self.tracker.write(replace(folder.record, name=folder.path.absolute().name), plain_settings(folder))


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
