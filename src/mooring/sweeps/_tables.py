"""The tables of a sweep, `results.csv` and `summary.csv`: the same bytes for the same finished runs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from mooring.config import Plan
from mooring.record import (
    FINISHED,
    PositiveClass,
    RunRecord,
    RunResult,
    metric_values,
    positive_class,
    positive_label,
    write_atomically,
)
from mooring.sweeps._best import Best, best_combinations
from mooring.sweeps._summary import Difference, Factors, SummaryCell, SummaryRow, summarised
from mooring.wording import csv_table


@dataclass(frozen=True)
class SweepTables:
    """The content of `results.csv` and `summary.csv`."""

    results: tuple[RunRecord, ...]
    summary: tuple[SummaryRow, ...]
    leads: tuple[Best[SummaryRow], ...] = ()

    def of(self, row: SummaryRow) -> list[RunResult]:
        """The results behind a line of the summary, one per seed."""
        same = (run.result for run in self.results if row.factors.items() <= run.factors.items())
        return [result for result in same if result is not None]

    def positive_label(self, positive: str | None = None) -> str | None:
        """The named class, or the second of two, among the classes of the first finished run."""
        ended = next((run.result for run in self.results if run.result is not None), None)
        return None if ended is None else positive_label(ended.classes, positive)

    def result_cells(self, positive: str | None = None) -> list[dict[str, SummaryCell]]:
        """The lines of `results.csv`; `positive` is the positive class, by default the second of two."""
        label = self.positive_label(positive)
        return [result_cells(run, label) for run in self.results]

    def summary_cells(self, positive: str | None = None) -> list[dict[str, SummaryCell]]:
        """The lines of `summary.csv`, with means over seeds for the positive class."""
        label = self.positive_label(positive)
        return [{**summary_cells(row), **class_cells(self.of(row), label)} for row in self.summary]

    @property
    def tied(self) -> bool:
        """Have several combinations one and the same validation accuracy?"""
        known = [row.validation for row in self.summary]
        return len(known) > 1 and None not in known and len(set(known)) == 1

    @property
    def failures(self) -> dict[str, str]:
        return {run.name: run.status for run in self.results if run.status != FINISHED}


def tables_of(plan: Plan, runs: Sequence[RunRecord]) -> SweepTables:
    """Differences and leads are within a track; a baseline has no difference from itself."""
    summary = [
        replace(row, track=plan.experiment_at(dict(row.factors)).method.track)
        for row in summarised(runs, plan.varied, plan.baseline)
    ]
    within = {row.track for row in summary if plan.baseline in factor_words(row.factors)}
    summary = [
        replace(row, difference=Difference(None, 0))
        if row.difference and (row.track not in within or plan.baseline in factor_words(row.factors))
        else row
        for row in summary
    ]
    return SweepTables(tuple(runs), tuple(summary), best_combinations(runs, summary))


def factor_words(factors: Factors) -> list[str]:
    return [f"{key}={value}" for key, value in factors.items()]


def write_tables(tables: SweepTables, out: Path) -> None:
    write_atomically(out / "results.csv", as_csv(tables.result_cells()))
    write_atomically(out / "summary.csv", as_csv(tables.summary_cells()))


def result_cells(run: RunRecord, label: str | None = None) -> dict[str, SummaryCell]:
    """A line of `results.csv`, without times, because they always differ. `label`: the positive class, if any."""
    found = run.result
    return {
        "run": run.name,
        **run.factors,
        **metric_values(None if found is None else found.metrics),
        **class_cells([found] if found else [], label),
        "validation_accuracy": run.validation_accuracy,
        "upload_bytes": None if found is None else found.upload_bytes,
        "download_bytes": None if found is None else found.download_bytes,
        "status": run.status,
    }


def summary_cells(row: SummaryRow) -> dict[str, SummaryCell]:
    cells = {**row.factors, "validation": row.validation, "n": row.n, "mean": row.mean, "std": row.std}
    gap = row.difference
    if gap is not None:
        cells |= {"difference": gap.mean, "pairs": gap.pairs, "low": gap.low, "high": gap.high}
    return cells


def class_cells(results: Sequence[RunResult], label: str | None) -> dict[str, SummaryCell]:
    """The positive class and its rates, as means over these results; empty without such a class."""
    if label is None:
        return {}
    found = list(of_class(results, label))
    columns = {
        "sensitivity": [one.sensitivity.share for one in found],
        "specificity": [one.specificity.share for one in found],
        "auc": [one.auc for one in found],
    }
    known = {name: [value for value in values if value is not None] for name, values in columns.items()}
    return {"positive_class": label} | {name: fmean(values) if values else None for name, values in known.items()}


def of_class(results: Iterable[RunResult], label: str) -> Iterator[PositiveClass]:
    """The rates of this class in every result that has it."""
    for result in results:
        if label in result.classes:
            yield positive_class(result.metrics, result.classes, label)


def as_csv(rows: Sequence[dict[str, SummaryCell]]) -> bytes:
    columns = list(rows[0]) if rows else []
    return csv_table(columns, ([row.get(column) for column in columns] for row in rows)).encode()
