"""Watch a run while it goes on."""

from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path

from mooring.config import Experiment
from mooring.events import ClientRecord, Emit, Event, SnapshotFused
from mooring.record import RunRecord
from mooring.track._dashboard import client_metrics


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
