"""A table: what every format writes, how a number looks to people, and how a table looks to machines."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from statistics import fmean, stdev
from typing import Any

from mooring.cells import guarded, in_csv, printable

NOTHING = "–"


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation over seeds; a single seed has no deviation."""

    mean: float
    std: float | None = None


Cell = str | int | float | Spread | None


@dataclass(frozen=True)
class Table:
    """Columns and rows under a title; `slug` names its file, its sheet and its place on the page."""

    slug: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def flat(self) -> "Table":
        """For machines: every column with spreads becomes two, the mean and its standard deviation."""
        spread = [any(isinstance(row[i], Spread) for row in self.rows) for i in range(len(self.columns))]
        columns = [name for column, two in zip(self.columns, spread, strict=True) for name in parted_name(column, two)]
        rows = [
            tuple(part for cell, two in zip(row, spread, strict=True) for part in parted(cell, two))
            for row in self.rows
        ]
        return Table(self.slug, self.title, tuple(columns), tuple(rows), self.note)


def parted_name(column: str, two: bool) -> tuple[str, ...]:
    return (column, f"{column} std") if two else (column,)


def parted(cell: Cell, two: bool) -> tuple[Cell, ...]:
    if isinstance(cell, Spread):
        return cell.mean, cell.std
    return (cell, None) if two else (cell,)


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


def shown(cell: Any) -> str:
    """A cell as people read it."""
    match cell:
        case None:
            return NOTHING
        case Spread(mean, None):
            return number(mean)
        case Spread(mean, float(std)):
            return f"{number(mean)} ± {number(std)}"
        case bool():
            return str(cell).lower()
        case int():
            return f"{cell:,}"
        case float():
            return number(cell)
    return printable(str(cell))


def number(value: float) -> str:
    """Three decimals where they say something, three digits elsewhere."""
    if value == 0 or 1e-3 <= abs(value) < 1000:
        return f"{value:.3f}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e5 else f"{value:.2e}"


def size(nbytes: float) -> str:
    """46.1 kB, 138 MB"""
    units = ["B", "kB", "MB", "GB"]
    while nbytes >= 1000 and len(units) > 1:
        nbytes /= 1000
        units.pop(0)
    return f"{nbytes:.0f} {units[0]}" if nbytes >= 100 or units[0] == "B" else f"{nbytes:.1f} {units[0]}"


def csv_text(table: Table) -> str:
    flat, text = table.flat(), StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(guarded, flat.columns))
    writer.writerows(map(in_csv, row) for row in flat.rows)
    return text.getvalue()
