"""Better than the baseline? The differences are those of the sweep's own summary.csv."""

from collections.abc import Iterator
from typing import Any

from mooring.reports.book import Book, Group, Run, grouped
from mooring.reports.table import Cell, Table, spread
from mooring.sweep.summary import difference, paired

COLUMNS = ("experiment", "difference", "95 % low", "95 % high", "pairs won", "pairs")


def comparison(book: Book) -> tuple[Table, ...]:
    """Every experiment but the baseline itself; nothing where there is no baseline, or nobody to compare."""
    rows = tuple(row for sweep, baseline in book.baselines.items() for row in compared(book, sweep, baseline))
    if not rows:
        return ()
    told = ", ".join(dict.fromkeys(book.baselines.values()))
    note = (
        f"Accuracy minus that of {told} with the same other factors and the same seed: mean ± standard deviation over "
        "pairs, and the 95 % confidence interval of the mean (Student's t; a single pair has none)."
    )
    return (Table("baseline", f"Against {told}", COLUMNS, rows, note),)


def compared(book: Book, sweep: str, baseline: str) -> Iterator[tuple[Cell, ...]]:
    members = tuple(member for member in book.members if member.sweep == sweep)
    factors = list(dict.fromkeys(key for member in members for key in member.factors))
    key, _, value = baseline.partition("=")
    if key not in factors:
        return
    everybody = [row_of(member, factors) for member in members]
    for group in grouped(tuple(member for member in members if member.factors.get(key) != value)):
        differences = paired([row_of(member, factors) for member in group.runs], everybody, factors, baseline)
        if differences:
            yield line(group, differences)


def row_of(member: Run, factors: list[str]) -> dict[str, Any]:
    return {**dict.fromkeys(factors), **member.factors, "accuracy": member.result["accuracy"]}


def line(group: Group, differences: list[float]) -> tuple[Cell, ...]:
    told = difference(differences)
    won = sum(value > 0 for value in differences)
    return group.label, spread(differences), told["low"], told["high"], won, told["pairs"]
