"""The one model of a run: every client's history, the fused accuracies, the result once there is one.

The doctor, reports, sweeps, dashboards and lab notes read runs through it. `SweepRecord` says which runs a sweep has.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mooring.events import (
    ClientFailed,
    ClientRecord,
    ClientStarted,
    EpochRecord,
    PartitionDrawn,
    Remark,
    SnapshotFused,
)
from mooring.record._events import TimedEvent
from mooring.record._files import check_seal, read_json, write_record
from mooring.record._result import FORMAT, FusionRecord, Result, RunResult

FINISHED = "finished"


@dataclass(frozen=True)
class ClientHistory:
    """One client and its course."""

    client: int
    site: str
    samples: int | None = None
    label_counts: tuple[int, ...] = ()
    started: ClientStarted | None = None
    rounds: tuple[ClientRecord, ...] = ()
    epochs: tuple[EpochRecord, ...] = ()
    failure: str | None = None  # why it gave up, if it did

    @property
    def seconds(self) -> float:
        """Of its whole training."""
        return sum(record.seconds or 0.0 for record in self.rounds)


@dataclass(frozen=True)
class RunRecord:
    """All that is recorded of a run, finished or not.

    It comes from a run folder, from the result alone (then clients have the evaluated rounds and no epochs), or from a
    log. A member of a sweep also has its factors and how it ended.
    """

    name: str
    clients: tuple[ClientHistory, ...]
    fused: Mapping[int, float]  # round -> fused accuracy
    result: RunResult | None = None  # None while it is running
    remarks: tuple[str, ...] = ()  # what a reader should know, such as what was inferred and not read
    events: tuple[TimedEvent, ...] = field(default=(), repr=False)
    factors: Mapping[str, Any] = field(default_factory=dict)  # what sets it apart in its sweep
    status: str = FINISHED  # of a sweep's member: or why it has no result, or not a complete one
    folder: Path | None = None  # where it was read from

    @property
    def accuracy(self) -> float | None:
        """Fused, after the last round that was fused."""
        if self.result is not None:
            return self.result.accuracy
        return self.fused[max(self.fused)] if self.fused else None

    @property
    def validation_accuracy(self) -> float | None:
        return None if self.result is None else self.result.validation_accuracy

    @property
    def rounds(self) -> tuple[ClientRecord, ...]:
        """Every round of every client."""
        return tuple(row for client in self.clients for row in client.rounds)

    @property
    def epochs(self) -> tuple[EpochRecord, ...]:
        return tuple(row for client in self.clients for row in client.epochs)

    @property
    def seed(self) -> int:
        """As its sweep names it, or as its result does."""
        if "seed" in self.factors:
            return int(self.factors["seed"])
        known = self.result.seeds.training if self.result else None
        return 1 if known is None else known

    @property
    def test_images(self) -> int | None:
        """How many the fused accuracies are measured on; known once the first was."""
        if self.result is not None:
            return self.result.test_images
        counts = [timed.event.images for timed in self.events if isinstance(timed.event, SnapshotFused)]
        return counts[-1] if counts else None

    def mean_accuracy(self, round_: int) -> float | None:
        """Of the clients alone, over those that have one in this round."""
        own = [r.accuracy for c in self.clients for r in c.rounds if r.round == round_ and r.accuracy is not None]
        return sum(own) / len(own) if own else None


def fused_result(result: Result, row: FusionRecord) -> Result:
    """The result of a training as another fusion of its uploads would have it; only the last round was fused."""
    last = replace(
        result.last,
        round=row.round,
        metrics=row.metrics,
        validation_accuracy=row.validation_accuracy,
        server_seconds=row.server_seconds,
        passes=row.passes,
    )
    return replace(
        result,
        accuracy=row.accuracy,
        rounds=(last,),
        validation_accuracy=row.validation_accuracy,
        upload_bytes=row.upload_bytes,
        download_bytes=0,  # nothing is sent again
        test_images=row.test_images or result.test_images,
    )


def with_result(record: RunRecord, result: RunResult) -> RunRecord:
    """The same training under another result."""
    return replace(record, result=result, fused={row.round: row.accuracy for row in result.rounds})


def run_record(
    name: str, events: Iterable[TimedEvent], result: RunResult | None, folder: Path | None = None
) -> RunRecord:
    """Events and result, put together by client."""
    kept = tuple(events)
    rows = {(own.round, own.client): own for row in result.rounds for own in row.clients} if result else {}
    courses = _Courses(rows)
    for timed in kept:
        courses.take(timed)
    fused = {row.round: row.accuracy for row in result.rounds} if result else courses.fused
    clients = tuple(courses.histories(result))
    return RunRecord(name, clients, fused, result, tuple(courses.remarks), kept, folder=folder)


class _Courses:
    """Collects the events of each client; a resumed run reports a round twice, and the later event counts."""

    def __init__(self, evaluated: Mapping[tuple[int, int], ClientRecord]) -> None:
        self.evaluated = evaluated  # (round, client) -> with the accuracy of the client alone
        self.rounds: dict[int, dict[int, ClientRecord]] = {}
        self.epochs: dict[int, dict[tuple[int, int], EpochRecord]] = {}
        self.starts: dict[int, ClientStarted] = {}
        self.failures: dict[int, str] = {}
        self.fused: dict[int, float] = {}
        self.drawn: PartitionDrawn | None = None
        self.remarks: list[str] = []
        for (round_, client), row in evaluated.items():
            self.rounds.setdefault(client, {})[round_] = row

    def take(self, timed: TimedEvent) -> None:
        match timed.event:
            case ClientRecord() as row:
                known = self.evaluated.get((row.round, row.client))
                own = row if known is None else replace(row, accuracy=known.accuracy)
                self.rounds.setdefault(row.client, {})[row.round] = own
            case EpochRecord() as row:
                self.epochs.setdefault(row.client, {})[row.round, row.epoch] = row
            case ClientStarted() as start:
                self.starts[start.client] = start
            case ClientFailed() as failed:
                self.failures[failed.client] = failed.problem
            case SnapshotFused(round=round_, accuracy=accuracy) if accuracy is not None:
                self.fused[round_] = accuracy
            case PartitionDrawn() as drawn:
                self.drawn = drawn
            case Remark(text=text):
                self.remarks.append(text)

    def histories(self, result: RunResult | None) -> Iterator[ClientHistory]:
        summary = result.partition if result else self.drawn.summary if self.drawn else None
        names = {site.number: site.name for site in result.sites} if result else {}
        if self.drawn and not names:
            names = dict(enumerate(self.drawn.sites))
        for client in sorted({*names, *self.rounds, *self.starts, *self.failures}):
            counts = summary.label_counts[client] if summary and client < len(summary.label_counts) else ()
            rounds, epochs = self.rounds.get(client, {}), self.epochs.get(client, {})
            yield ClientHistory(
                client,
                names.get(client, f"client {client}"),
                sum(counts) if counts else None,
                counts,
                self.starts.get(client),
                tuple(rounds[at] for at in sorted(rounds)),
                tuple(epochs[at] for at in sorted(epochs)),
                self.failures.get(client),
            )


SWEEP_FILE = "sweep.json"
AGAIN = "run the sweep again: it keeps what is finished and writes this file anew"


@dataclass(frozen=True)
class SweepMember:
    """One run of a sweep: its factors, how it ended, and the folder in `runs/` that trained it.

    Members that differ only in their fusion share one training.
    """

    name: str
    factors: Mapping[str, object]
    status: str  # `finished`, or why not
    run: str

    @property
    def trains(self) -> bool:
        return self.run == self.name


@dataclass(frozen=True)
class SweepRecord:
    """What `sweep.json` says, in the order of the plan."""

    members: tuple[SweepMember, ...]
    baseline: str | None = None  # factor=value that the others are compared with
    format: int = FORMAT


def write_sweep(folder: Path, record: SweepRecord) -> None:
    write_record(folder / SWEEP_FILE, record)


def read_sweep(folder: Path) -> SweepRecord:
    return check_seal(SweepRecord, read_json(folder / SWEEP_FILE, AGAIN), folder / SWEEP_FILE, AGAIN)
