"""Tables: the numbers of a note next to the measured ones."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, Literal, Protocol

from mooring.notes._evidence import Evidence, trace
from mooring.notes._measures import Client, Measure
from mooring.notes._statistics import differences, sample, spread
from mooring.notes._study_record import PrintedTable
from mooring.record import RunRecord
from mooring.reports import Cell, Plot, PlottedLine, Quoted

NoteCell = str | int | float


class NoteTable(Protocol):
    """A table of a note: documented and measured values."""

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
class DocumentedRow:
    """A group of runs under its name in the table, with the note's numbers; `minus` another group, seed by seed."""

    name: str
    of: str
    note: tuple[NoteCell, ...] = ()
    minus: str = ""

    def groups(self) -> tuple[str, ...]:
        return (self.of, self.minus) if self.minus else (self.of,)

    def numbers(self, evidence: Evidence, measure: Measure) -> Collection[float]:
        own, *other = (sample(evidence, group, measure) for group in self.groups())
        return differences(own, other[0]) if other else own.values()


@dataclass(frozen=True)
class ChartColumns:
    """Columns of a table that are drawn in one chart: the note's and the measured ones."""

    title: str
    columns: tuple[str, ...]
    scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True)
class ByGroup:
    """One row per group of runs: the note's numbers under the headings `note`, then mean, spread and n over seeds."""

    kind: ClassVar[str] = "by-group"
    title: str
    rows: tuple[DocumentedRow, ...]
    measured: tuple[Column, ...]
    note: tuple[str, ...] = ()
    sheet: str = ""

    def groups(self) -> tuple[str, ...]:
        return tuple(group for row in self.rows for group in row.groups())

    def __call__(self, evidence: Evidence) -> PrintedTable:
        rows = []
        for row in self.rows:
            documented = [*map(quoted, row.note), *[None] * (len(self.note) - len(row.note))]
            numbers = [spread(row.numbers(evidence, column.measure)) for column in self.measured]
            rows.append((row.name, *documented, *numbers))
        seeds = sorted({run.seed for group in self.groups() for run in evidence.runs(group)})
        heads = ("", *of_note(self.note), *as_measured(column.title for column in self.measured))
        return PrintedTable(self.title, heads, tuple(rows), tuple(seeds), name=self.sheet)


@dataclass(frozen=True)
class ByClient:
    """One row per client: the note's values and ours (on other images), from the run with the lowest seed."""

    kind: ClassVar[str] = "by-client"
    title: str
    of: str
    measured: dict[str, str]  # heading -> field, in the last round
    note: tuple[str, ...]
    rows: tuple[tuple[NoteCell, ...], ...]  # of the note, one per client
    sheet: str = ""

    def groups(self) -> tuple[str, ...]:
        return (self.of,)

    def __call__(self, evidence: Evidence) -> PrintedTable:
        runs = lowest_seed(evidence, self.of)
        columns = [Client(field).by_client(run) for run in runs for field in self.measured.values()]
        clients = sorted({client for column in columns for client in column})
        ours: list[list[Cell]] = [[client, *(column.get(client) for column in columns)] for client in clients]
        blank_note, blank_ours = [None] * len(self.note), [None] * (1 + len(self.measured))
        rows = [
            (*(map(quoted, note) if note else blank_note), *(measured or blank_ours))
            for note, measured in zip_longest(self.rows, ours)
        ]
        heads = (*of_note(self.note), *as_measured(("client", *self.measured)))
        return PrintedTable(self.title, heads, tuple(rows), seeds_of_runs(runs), name=self.sheet)


@dataclass(frozen=True)
class ByRound:
    """One row per round that the note prints: round r of R, and our round nearest to r/(R-1) of the training.

    It shows the run with the lowest seed.
    """

    kind: ClassVar[str] = "by-round"
    title: str
    of: str
    measured: tuple[Column, ...]
    note: tuple[str, ...]
    note_rounds: int  # R
    rows: tuple[tuple[NoteCell, ...], ...]  # of the note, the round first
    plots: tuple[ChartColumns, ...] = ()
    sheet: str = ""

    def groups(self) -> tuple[str, ...]:
        return (self.of,)

    def __call__(self, evidence: Evidence) -> PrintedTable:
        runs = lowest_seed(evidence, self.of)
        series = [column.measure.series(run) for run in runs for column in self.measured]
        last = max((round_ for numbers in series for round_ in numbers), default=0)
        blank: list[Cell] = [None] * len(self.measured)
        rows = []
        for round_, *documented in self.rows:
            at = round(float(round_) / (self.note_rounds - 1) * last)
            rows.append((round_, *map(quoted, documented), at, *([found.get(at) for found in series] or blank)))
        heads = (*of_note(("round", *self.note)), *as_measured(("round", *self._titles)))
        plots = tuple(map(self._plot, self.plots))
        return PrintedTable(self.title, heads, tuple(rows), seeds_of_runs(runs), plots, self.sheet)

    @property
    def _titles(self) -> list[str]:
        return [column.title for column in self.measured]

    def _plot(self, drawn: ChartColumns) -> Plot:
        documented = [PlottedLine("round (note)", f"{name} (note)", "note") for name in self.note]
        measured = [PlottedLine("round (measured)", f"{name} (measured)") for name in self._titles]
        wanted = {f"{name} ({source})" for name in drawn.columns for source in ("note", "measured")}
        lines = tuple(line for line in (*documented, *measured) if line.y in wanted)
        return Plot(drawn.title, drawn.title, lines, drawn.scale)


@dataclass(frozen=True)
class EveryRound:
    """Every round of every client, one table for each run of a group.

    A round's columns are the `measured` ones, then each field of `clients` for client 0, 1, ...
    """

    title: str
    of: str
    sheet: str
    measured: tuple[Column, ...]
    clients: dict[str, str]  # heading -> field
    plots: tuple[ChartColumns, ...] = ()

    def tables(self, evidence: Evidence) -> Iterator[PrintedTable]:
        for run in sorted(evidence.runs(self.of), key=lambda run: run.seed):
            yield self._table(run)

    def _table(self, run: RunRecord) -> PrintedTable:
        columns = {column.title: column.measure.series(run) for column in self.measured}
        families: dict[str, tuple[str, ...]] = {name: (name,) for name in columns}
        for heading, field in self.clients.items():
            traces = {f"{heading}, client {client}": rounds for client, rounds in sorted(trace(run, field).items())}
            families[heading] = (*families.get(heading, ()), *traces)
            columns |= traces
        rounds = sorted({round_ for series in columns.values() for round_ in series})
        rows = tuple((round_, *(series.get(round_) for series in columns.values())) for round_ in rounds)
        plots = tuple(
            Plot(drawn.title, drawn.title, over_rounds(families, drawn.columns), drawn.scale) for drawn in self.plots
        )
        title = f"{self.title}, seed {run.seed}"
        return PrintedTable(title, ("round", *columns), rows, (run.seed,), plots, f"{self.sheet} seed {run.seed}")


def over_rounds(families: dict[str, tuple[str, ...]], wanted: Sequence[str]) -> tuple[PlottedLine, ...]:
    return tuple(PlottedLine("round", column) for name in wanted for column in families[name])


def of_note(names: Iterable[str]) -> list[str]:
    return [f"{name} (note)" for name in names]


def as_measured(names: Iterable[str]) -> list[str]:
    return [f"{name} (measured)" for name in names]


def quoted(cell: NoteCell) -> Cell:
    """A number of the note with the digits it was printed with; words stay words."""
    try:
        return Quoted(str(cell))
    except ValueError:
        return str(cell)


def lowest_seed(evidence: Evidence, group: str) -> list[RunRecord]:
    return sorted(evidence.runs(group), key=lambda run: run.seed)[:1]


def seeds_of_runs(runs: Sequence[RunRecord]) -> tuple[int, ...]:
    return tuple(run.seed for run in runs)
