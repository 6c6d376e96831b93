"""Tables of a report: their cells, how people read a cell, and how programs read a table."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from math import isfinite
from statistics import fmean, stdev
from typing import Any, Literal

from mooring.wording import csv_table, matching_digits, number, printable

NOTHING = "–"


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation over seeds, of which a single one has none; n where rows differ in it."""

    mean: float
    std: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class Quoted:
    """A number as somebody printed it: `0.7670` keeps its last digit."""

    quoted: str

    def __post_init__(self) -> None:
        if not isfinite(self.value):
            raise ValueError(f"{self.quoted[:40]!r} is no number")

    @property
    def value(self) -> float:
        return float(self.quoted.replace(",", ""))


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval, and what it is over: `over 3 seeds`, or over images."""

    low: float
    high: float
    over: str = ""
    signed: bool = False  # of a difference


Cell = str | int | float | Spread | Interval | Quoted | None


@dataclass(frozen=True)
class PlottedLine:
    """One column over another, both by name; of the note or measured."""

    x: str
    y: str
    source: Literal["note", "measured"] = "measured"


@dataclass(frozen=True)
class Plot:
    """Columns of a table that are drawn together."""

    title: str
    y_title: str
    lines: tuple[PlottedLine, ...]
    scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True)
class Table:
    """Columns and rows under a title; `slug` names its file and its place on the page."""

    slug: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    seeds: tuple[int, ...] = ()  # of the runs it shows; none given: all of the report
    plots: tuple[Plot, ...] = ()  # columns that are drawn
    name: str = ""  # of its sheet; none given: the title
    of: str = ""  # the run it shows; empty: more than one, or it need not be chosen
    folded: bool = False  # a chart says the same
    bold: frozenset[tuple[int, int]] = frozenset()  # (row, column): the best, where that is settled

    @classmethod
    def from_rows(
        cls, slug: str, title: str, rows: Iterable[Mapping[str, Cell]], note: str = "", **options: Any
    ) -> "Table":
        """Rows that name their columns; a row without a column has an empty cell there."""
        rows = list(rows)
        columns = tuple(dict.fromkeys(name for row in rows for name in row))
        cells = tuple(tuple(row.get(name) for name in columns) for row in rows)
        return cls(slug, title, columns, cells, note, **options)

    def flat(self) -> "Table":
        """For programs: every number of a mean with its deviation, or of an interval, has its own column."""
        parts = [parts_of([row[i] for row in self.rows]) for i in range(len(self.columns))]
        columns = [f"{name} {part}".strip() for name, own in zip(self.columns, parts, strict=True) for part in own]
        rows = [
            tuple(value for cell, own in zip(row, parts, strict=True) for value in parted(cell, own))
            for row in self.rows
        ]
        begins = list(accumulate(map(len, parts), initial=0))
        bold = frozenset((row, begins[column]) for row, column in self.bold)
        return replace(self, columns=tuple(columns), rows=tuple(rows), bold=bold)


def parts_of(cells: list[Cell]) -> tuple[str, ...]:
    if any(isinstance(cell, Interval) for cell in cells):
        return ("low", "high")
    spreads = [cell for cell in cells if isinstance(cell, Spread)]
    if not spreads:
        return ("",)
    return ("", "std", "n") if any(cell.n is not None for cell in spreads) else ("", "std")


def parted(cell: Cell, parts: tuple[str, ...]) -> tuple[Cell, ...]:
    match cell:
        case Spread(mean, std, n):
            return (mean, std, n)[: len(parts)]
        case Interval(low, high):
            return low, high
        case Quoted():
            cell = cell.value
    return cell, *[None] * (len(parts) - 1)


def spread(values: Iterable[float | None]) -> Spread | None:
    """Over the seeds that have a value."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Spread(fmean(known), stdev(known) if len(known) > 1 else None)


def average(values: Iterable[float | None]) -> float | None:
    """The mean alone, where a deviation would only distract."""
    found = spread(values)
    return None if found is None else found.mean


def cell_text(cell: Any) -> str:
    """A cell as people read it."""
    match cell:
        case None:
            return NOTHING
        case Quoted(text):
            return printable(text)
        case Spread(mean, std, n):
            around = "" if std is None else f" ± {matching_digits(number(mean), std, number(std))}"
            return f"{number(mean)}{around}{'' if n is None else f' (n = {n})'}"
        case Interval(low, high, signed=True):
            return f"{low:+.3f} to {high:+.3f}"
        case Interval(low, high):
            return f"{low:.3f}-{high:.3f}"
        case bool():
            return str(cell).lower()
        case int():
            return f"{cell:,}"
        case float():
            return number(cell)
    return printable(str(cell))


def csv_text(table: Table) -> str:
    flat = table.flat()
    return csv_table(flat.columns, flat.rows)
