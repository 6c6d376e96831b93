"""A run as it is recorded: every client's course, the fused accuracies, the result once there is one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

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
from mooring.record.result import Result


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
    """All that is recorded of a run, finished or not, wherever the record comes from."""

    name: str
    clients: tuple[ClientHistory, ...]
    fused: Mapping[int, float]  # round -> fused accuracy
    result: Result | None = None  # None while it is running
    remarks: tuple[str, ...] = ()  # what a reader should know, such as what was inferred and not read
    events: tuple[TimedEvent, ...] = field(default=(), repr=False)

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


def run_record(name: str, events: Iterable[TimedEvent], result: Result | None) -> RunRecord:
    """Events and result, put together by client."""
    kept = tuple(events)
    rows = {(own.round, own.client): own for row in result.rounds for own in row.clients} if result else {}
    courses = _Courses(rows)
    for timed in kept:
        courses.take(timed)
    fused = {row.round: row.accuracy for row in result.rounds} if result else courses.fused
    return RunRecord(name, tuple(courses.histories(result)), fused, result, tuple(courses.remarks), kept)


class _Courses:
    """Gathers what events say of each client; a resumed run tells a round twice, and the last word counts."""

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

    def histories(self, result: Result | None) -> Iterator[ClientHistory]:
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
