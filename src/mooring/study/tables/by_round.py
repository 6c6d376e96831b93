"""One row per round that the note prints, beside the measured round at the same share of the training."""

from dataclasses import dataclass
from typing import ClassVar

from mooring.study.evidence import Evidence
from mooring.study.samples import short
from mooring.study.tables.base import Cell, Column, Printed


@dataclass(frozen=True)
class ByRound:
    """Round r of the note's R is set beside our round nearest to r/(R-1) of the way. One run: the lowest seed."""

    kind: ClassVar[str] = "by-round"
    title: str
    of: str
    measured: tuple[Column, ...]
    note: tuple[str, ...]
    note_rounds: int  # R
    rows: tuple[tuple[Cell, ...], ...]  # of the note, the round first

    def groups(self) -> tuple[str, ...]:
        return (self.of,)

    def __call__(self, evidence: Evidence) -> Printed:
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
        return Printed(f"{self.title}{seed}", tuple(heads), tuple(rows))
