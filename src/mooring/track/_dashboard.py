"""A run as values for dashboards: settings, metrics by round, final metrics."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, Protocol

from mooring.config import read_file
from mooring.errors import StoreError
from mooring.events import ClientRecord, SnapshotFused
from mooring.record import RunFolder, RunResult, TimedEvent, metric_values
from mooring.schema import tree_leaves

TRACED = ("base_loss", "align_loss", "lambda_raw", "lambda_felt", "lambda_star", "train_accuracy")
PlainValue = str | int | float | bool


@dataclass(frozen=True)
class MetricPoint:
    """One metric of one round, and its time (seconds since 1970; 0 if unknown)."""

    name: str  # "accuracy", or "lambda_felt/client-3"
    round: int
    value: float
    time: float


@dataclass(frozen=True)
class TrackedRun:
    """The values of a run; `final` is None while it is running."""

    name: str
    identity: str  # hash of the folder and of when its run began: a run repeated there is another one
    settings: dict[str, PlainValue]
    points: tuple[MetricPoint, ...]
    final: dict[str, float] | None
    facts: dict[str, str]

    @property
    def end(self) -> tuple[int, float]:
        """The last round, and when it was known."""
        return max(((point.round, point.time) for point in self.points), default=(0, 0.0))


class Tracker(Protocol):
    """A dashboard that shows runs."""

    usual: ClassVar[str]  # where it writes by default

    def __init__(self, out: Path) -> None: ...

    def write(self, run: TrackedRun) -> None:
        """Show this run, or update it if it is already there."""


def tracked_run(folder: RunFolder, name: str) -> TrackedRun:
    result = folder.result if folder.ended else None
    began = next((timed.time for timed in folder.events), None)
    settings = tree_leaves(read_file(folder.experiment_file))
    points = {
        (point.name, point.round): point for point in [*from_events(folder.events), *alone(folder.events, result)]
    }
    return TrackedRun(
        name,
        sha256(f"{folder.path.absolute()} {began}".encode()).hexdigest(),
        {key: value for key, value in settings if isinstance(value, str | int | float | bool)},  # null is not shown
        tuple(points.values()),  # a resumed run may record a round twice: the last record counts
        None if result is None else final_of(result),
        run_facts(folder, result),
    )


def from_events(events: tuple[TimedEvent, ...]) -> Iterator[MetricPoint]:
    for timed in events:
        match timed.event:
            case SnapshotFused(round=round_, accuracy=accuracy):
                yield from numbers("", round_, {"accuracy": accuracy}, timed.time)
            case ClientRecord() as row:
                own = {name: getattr(row, name) for name in TRACED}
                yield from numbers(f"/client-{row.client}", row.round, own, timed.time)


def alone(events: tuple[TimedEvent, ...], result: RunResult | None) -> Iterator[MetricPoint]:
    """Local-only accuracies, which are known when the run has ended."""
    times = {timed.event.round: timed.time for timed in events if isinstance(timed.event, SnapshotFused)}
    for row in () if result is None else result.rounds:
        for own in row.clients:
            figures = {"accuracy_alone": own.accuracy}
            yield from numbers(f"/client-{own.client}", row.round, figures, times.get(row.round))


def numbers(suffix: str, round_: int, values: Mapping[str, float | None], time: float | None) -> Iterator[MetricPoint]:
    """Skips None, which also stands for numbers that are not finite."""
    for name, value in values.items():
        if value is not None:
            yield MetricPoint(f"{name}{suffix}", round_, float(value), time or 0.0)


def final_of(result: RunResult) -> dict[str, float]:
    figures = metric_values(result.metrics) | {"seconds": result.seconds, "upload_bytes": result.upload_bytes}
    return {name: float(value) for name, value in figures.items() if value is not None}


def run_facts(folder: RunFolder, result: RunResult | None) -> dict[str, str]:
    facts: dict[str, str | None] = {"folder": str(folder.path.absolute())}
    if result is not None:
        facts |= {"fingerprint": result.fingerprint, "dataset": result.dataset, "method": result.method}
    if result is not None and (origin := result.origin) is not None:
        inferred = "; ".join(f"{name}: {how}" for name, how in origin.inferred.items())
        facts |= {"log": origin.log, "method known": origin.identified, "inferred": inferred or None}
    return {name: value for name, value in facts.items() if value is not None}


def runs_in(folder: Path) -> Iterator[tuple[str, RunFolder]]:
    """(name, folder) of the run, or of every run in `<sweep>/runs` that has begun."""
    home = folder.absolute()
    if RunFolder(folder).begun:
        yield home.name, RunFolder(folder)
        return
    members = [run for run in map(RunFolder, sorted(folder.glob("runs/*"))) if run.begun]
    if not members:
        raise StoreError(f"{folder}: is neither a run nor a sweep", "name a folder with events.jsonl or runs/ in it")
    for member in members:
        yield f"{home.name}/{member.path.name}", member
