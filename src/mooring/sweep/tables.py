"""One tidy table of all runs, and one of their means: the same bytes whenever the same runs have ended."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

from mooring.config.plan import Plan
from mooring.errors import StoreError
from mooring.record import write_atomically
from mooring.sweep.members import Member
from mooring.sweep.summary import summary_rows
from mooring.sweep.worker import SOME_FAILED

METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "calibration_error")
COSTS = ("upload_bytes", "download_bytes")
Cell = str | int | float | None
Row = dict[str, Cell]


def write_tables(plan: Plan, every: Sequence[Member], failures: dict[str, str], out: Path) -> None:
    rows = [row_of(member, failures.get(member.name, "")) for member in every]
    write_atomically(out / "results.csv", as_csv(rows))
    write_atomically(out / "summary.csv", as_csv(summary_rows(rows, plan.varied, plan.baseline)))


def row_of(member: Member, failure: str) -> Row:
    """Every factor and every figure of one run; no times, which are never the same twice."""
    result = member.result
    row: Row = {"run": member.name, **member.factors}
    if result is None:
        return row | dict.fromkeys((*METRICS, "validation_accuracy", *COSTS)) | {"status": failure or "not finished"}
    return {
        **row,
        **{name: getattr(result.metrics, name) for name in METRICS},
        "validation_accuracy": result.validation_accuracy,
        "upload_bytes": result.upload_bytes,
        "download_bytes": result.download_bytes,
        "status": failure or ("finished" if result.complete else SOME_FAILED),
    }


def as_csv(rows: Iterable[Row]) -> bytes:
    rows = list(rows)
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def read_table(path: Path) -> list[Row]:
    """A table as it was written: numbers are numbers, and nothing is None."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", "name the folder of a finished sweep") from None
    return [{key: value_of(text) for key, text in row.items()} for row in csv.DictReader(lines)]


def value_of(text: str) -> Cell:
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
