"""One row per group of runs: what the note prints, then mean, spread and n over seeds."""

from dataclasses import dataclass
from typing import ClassVar

from mooring.study.evidence import Evidence
from mooring.study.samples import sample, told
from mooring.study.tables.base import Cell, Column, Printed


@dataclass(frozen=True)
class Row:
    """A group by the name it has in the table, and what the note says of it."""

    name: str
    of: str
    note: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class ByGroup:
    """`note` heads what the note prints in every row."""

    kind: ClassVar[str] = "by-group"
    title: str
    rows: tuple[Row, ...]
    measured: tuple[Column, ...]
    note: tuple[str, ...] = ()

    def groups(self) -> tuple[str, ...]:
        return tuple(row.of for row in self.rows)

    def __call__(self, evidence: Evidence) -> Printed:
        heads = [f"{name} (note)" for name in self.note] + [f"{column.title} (measured)" for column in self.measured]
        rows = []
        for row in self.rows:
            documented = [str(cell) for cell in row.note] + ["-"] * (len(self.note) - len(row.note))
            numbers = [told(sample(evidence, row.of, column.measure).values()) for column in self.measured]
            rows.append((row.name, *documented, *numbers))
        return Printed(self.title, ("", *heads), tuple(rows))
