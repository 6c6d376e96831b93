"""What dashboards show of a run: its settings, metrics by round, final metrics and origin."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import ClassVar, Protocol

from mooring.config import read_file
from mooring.errors import StoreError
from mooring.events import ClientRecord, SnapshotFused
from mooring.record import RunFolder, RunRecord, metric_values
from mooring.schema import tree_leaves

TRACED = ("base_loss", "align_loss", "lambda_raw", "lambda_felt", "lambda_star", "train_accuracy")
PlainSettings = Mapping[str, str | int | float | bool]  # by path, such as training.lr


@dataclass(frozen=True)
class MetricPoint:
    """One metric of one round, and its time (seconds since 1970; 0 if unknown)."""

    name: str  # "accuracy", or "lambda_felt/client-3"
    round: int
    value: float
    time: float


class Tracker(Protocol):
    """A dashboard that shows runs."""

    usual: ClassVar[str]  # where it writes by default

    def __init__(self, out: Path) -> None: ...

    def require(self) -> None:
        """Raise an error if its package is missing, before anything is trained."""

    def write(self, run: RunRecord, settings: PlainSettings) -> None:
        """Show this run, or update it if it is already there."""


def plain_settings(folder: RunFolder) -> PlainSettings:
    leaves = tree_leaves(read_file(folder.experiment_file))
    return {key: value for key, value in leaves if isinstance(value, str | int | float | bool)}  # null is not shown


def identity(run: RunRecord) -> str:
    """A hash of the folder and the start time: a run that is repeated in the same folder is another run."""
    began = next((timed.time for timed in run.events), None)
    return sha256(f"{absolute_folder(run)} {began}".encode()).hexdigest()


def absolute_folder(run: RunRecord) -> Path | None:
    return None if run.folder is None else run.folder.absolute()


def metric_points(run: RunRecord) -> list[MetricPoint]:
    """Every finite number of every round. Local-only accuracies are known once the run has ended."""
    fused_at = {timed.event.round: timed.time for timed in run.events if isinstance(timed.event, SnapshotFused)}
    trained_at = {
        (timed.event.client, timed.event.round): timed.time
        for timed in run.events
        if isinstance(timed.event, ClientRecord)
    }
    found: list[tuple[str, int, float | None, float | None]] = []
    found += [("accuracy", round_, accuracy, fused_at.get(round_)) for round_, accuracy in run.fused.items()]
    for row in run.rounds:
        time = trained_at.get((row.client, row.round))
        found += [(name, row.round, value, time) for name, value in client_metrics(row)]
        found.append((f"accuracy_alone/client-{row.client}", row.round, row.accuracy, fused_at.get(row.round)))
    return [
        MetricPoint(name, round_, float(value), time or 0.0)
        for name, round_, value, time in found
        if value is not None and isfinite(value)
    ]


def client_metrics(row: ClientRecord) -> list[tuple[str, float | None]]:
    """The numbers of a client's round by name, such as `lambda_felt/client-3`."""
    return [(f"{name}/client-{row.client}", getattr(row, name)) for name in TRACED]


def final_metrics(run: RunRecord) -> dict[str, float]:
    """By name, such as `final/accuracy`; empty while the run is running."""
    if run.result is None:
        return {}
    seen = metric_values(run.result.metrics) | {"seconds": run.result.seconds, "upload_bytes": run.result.upload_bytes}
    return {f"final/{name}": float(value) for name, value in seen.items() if value is not None}


def run_facts(run: RunRecord) -> dict[str, str]:
    """Where the run comes from, as text."""
    facts: dict[str, str | None] = {"folder": str(absolute_folder(run))}
    if run.result is not None:
        facts |= {name: getattr(run.result, name) for name in ("fingerprint", "dataset", "method")}
    if run.result is not None and (origin := run.result.origin) is not None:
        inferred = "; ".join(f"{name}: {how}" for name, how in origin.inferred.items())
        facts |= {"log": origin.log, "method known": origin.identified, "inferred": inferred or None}
    return {name: value for name, value in facts.items() if value is not None}


def runs_in(folder: Path) -> Iterator[tuple[RunRecord, PlainSettings]]:
    """The run in this folder, or every run in `<sweep>/runs` that has begun, under a name for dashboards."""
    home, run = folder.absolute(), RunFolder(folder)
    if run.begun:
        yield replace(run.record, name=home.name), plain_settings(run)
        return
    members = [member for member in map(RunFolder, sorted(folder.glob("runs/*"))) if member.begun]
    if not members:
        raise StoreError(f"{folder}: is neither a run nor a sweep", "name a folder with events.jsonl or runs/ in it")
    for member in members:
        yield replace(member.record, name=f"{home.name}/{member.path.name}"), plain_settings(member)
