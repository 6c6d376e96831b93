"""Tables: what a note prints, beside what is measured."""

from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, Protocol

from mooring.record import PrintedTable
from mooring.study.evidence import Evidence
from mooring.study.measures import Client, Measure
from mooring.study.samples import sample, short, told

Cell = str | int | float


class NoteTable(Protocol):
    """A table of a note: documented beside measured."""

    kind: ClassVar[str]

    @property
    def title(self) -> str: ...

    def __call__(self, evidence: Evidence) -> PrintedTable: ...

    def groups(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Column:
    """A measured column."""

    title: str
    measure: Measure


@dataclass(frozen=True)
class Row:
    """A group by the name it has in the table, and what the note says of it."""

    name: str
    of: str
    note: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class ByGroup:
    """One row per group of runs: what the note prints (`note` heads it), then mean, spread and n over seeds."""

    kind: ClassVar[str] = "by-group"
    title: str
    rows: tuple[Row, ...]
    measured: tuple[Column, ...]
    note: tuple[str, ...] = ()

    def groups(self) -> tuple[str, ...]:
        return tuple(row.of for row in self.rows)

    def __call__(self, evidence: Evidence) -> PrintedTable:
        heads = [f"{name} (note)" for name in self.note] + [f"{column.title} (measured)" for column in self.measured]
        rows = []
        for row in self.rows:
            documented = [str(cell) for cell in row.note] + ["-"] * (len(self.note) - len(row.note))
            numbers = [told(sample(evidence, row.of, column.measure).values()) for column in self.measured]
            rows.append((row.name, *documented, *numbers))
        return PrintedTable(self.title, ("", *heads), tuple(rows))


@dataclass(frozen=True)
class ByClient:
    """One row per client: the note's beside ours, which hold other images; of the run with the lowest seed."""

    kind: ClassVar[str] = "by-client"
    title: str
    of: str
    measured: dict[str, str]  # heading -> field, in the last round
    note: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]  # of the note, one per client

    def groups(self) -> tuple[str, ...]:
        return (self.of,)

    def __call__(self, evidence: Evidence) -> PrintedTable:
        runs = sorted(evidence.runs(self.of), key=lambda run: run.seed)[:1]
        columns = [Client(field).by_client(run) for run in runs for field in self.measured.values()]
        clients = sorted({client for column in columns for client in column})
        ours = [[str(k), *(short(column[k]) if k in column else "-" for column in columns)] for k in clients]
        blank_note, blank_ours = ["-"] * len(self.note), ["-"] * (1 + len(self.measured))
        rows = [
            (*map(str, note or blank_note), *(measured or blank_ours))
            for note, measured in zip_longest(self.rows, ours)
        ]
        heads = [*(f"{name} (note)" for name in self.note), "client (measured)"]
        heads += [f"{name} (measured)" for name in self.measured]
        seed = f", seed {runs[0].seed}" if runs else ""
        return PrintedTable(f"{self.title}{seed}", tuple(heads), tuple(rows))


@dataclass(frozen=True)
class ByRound:
    """One row per round that the note prints: round r of its R beside our round nearest to r/(R-1) of the way.

    One run is shown, that with the lowest seed.
    """

    kind: ClassVar[str] = "by-round"
    title: str
    of: str
    measured: tuple[Column, ...]
    note: tuple[str, ...]
    note_rounds: int  # R
    rows: tuple[tuple[Cell, ...], ...]  # of the note, the round first

    def groups(self) -> tuple[str, ...]:
        return (self.of,)

    def __call__(self, evidence: Evidence) -> PrintedTable:
        heads = ["round (note)", *(f"{name} (note)" for name in self.note), "round (measured)"]
        heads += [f"{column.title} (measured)" for column in self.measured]
        runs = sorted(evidence.runs(self.of), key=lambda run: run.seed)[:1]
        series = [column.measure.series(run) for run in runs for column in self.measured]
        last = max((round_ for numbers in series for round_ in numbers), default=0)
        rows = []
        for row in self.rows:
            at = round(float(row[0]) / (self.note_rounds - 1) * last)
            numbers = [short(found[at]) if at in found else "-" for found in series]
            rows.append((*map(str, row), str(at), *(numbers or ["-"] * len(self.measured))))
        seed = f", seed {runs[0].seed}" if runs else ""
        return PrintedTable(f"{self.title}{seed}", tuple(heads), tuple(rows))
