"""One tidy table of all runs, and one of their means: the same bytes whenever the same runs have ended."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from mooring.cells import guarded, in_csv
from mooring.config.plan import Plan
from mooring.record import write_atomically
from mooring.sweep.lead import Lead, leads
from mooring.sweep.members import Member, MemberResult
from mooring.sweep.summary import Cell, Factors, Scored, SummaryRow, summarised
from mooring.sweep.worker import SOME_FAILED

METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "calibration_error")
FINISHED = "finished"


@dataclass(frozen=True)
class ResultRow:
    """One run of a sweep: its factors and what came out; no times, which are never the same twice."""

    run: str
    factors: Factors
    result: MemberResult | None
    status: str

    def cells(self) -> dict[str, Cell]:
        found = self.result
        metrics = {name: None if found is None else getattr(found.metrics, name) for name in METRICS}
        return {
            "run": self.run,
            **self.factors,
            **metrics,
            "validation_accuracy": None if found is None else found.validation_accuracy,
            "upload_bytes": None if found is None else found.upload_bytes,
            "download_bytes": None if found is None else found.download_bytes,
            "status": self.status,
        }


@dataclass(frozen=True)
class SweepTables:
    """What `results.csv` and `summary.csv` say."""

    results: tuple[ResultRow, ...]
    summary: tuple[SummaryRow, ...]
    leads: tuple[Lead[Factors], ...] = ()

    def of(self, row: SummaryRow) -> list[MemberResult]:
        """What came out of the runs behind a line of the summary, seed by seed."""
        same = (run.result for run in self.results if row.factors.items() <= run.factors.items())
        return [result for result in same if result is not None]

    @property
    def failures(self) -> dict[str, str]:
        return {row.run: row.status for row in self.results if row.status != FINISHED}


def tables_of(plan: Plan, every: Sequence[Member], failures: dict[str, str]) -> SweepTables:
    rows = tuple(row_of(member, failures.get(member.name, "")) for member in every)
    scored = [
        Scored(row.factors, row.result.metrics.accuracy, row.result.validation_accuracy)
        if row.result is not None
        else Scored(row.factors, None)
        for row in rows
    ]
    return SweepTables(rows, tuple(summarised(scored, plan.varied, plan.baseline)), leads(scored, plan.varied))


def write_tables(tables: SweepTables, out: Path) -> None:
    write_atomically(out / "results.csv", as_csv(row.cells() for row in tables.results))
    write_atomically(out / "summary.csv", as_csv(summary_cells(row) for row in tables.summary))


def row_of(member: Member, failure: str) -> ResultRow:
    result = member.result
    ended = "not finished" if result is None else FINISHED if result.complete else SOME_FAILED
    return ResultRow(member.name, member.factors, result, failure or ended)


def summary_cells(row: SummaryRow) -> dict[str, Cell]:
    cells = {**row.factors, "validation": row.validation, "n": row.n, "mean": row.mean, "std": row.std}
    gap = row.difference
    if gap is not None:
        cells |= {"difference": gap.mean, "pairs": gap.pairs, "low": gap.low, "high": gap.high}
    return cells


def as_csv(rows: Iterable[dict[str, Cell]]) -> bytes:
    rows = list(rows)
    columns, text = list(rows[0]) if rows else [], StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(guarded, columns))
    writer.writerows([in_csv(row.get(column)) for column in columns] for row in rows)
    return text.getvalue().encode()
