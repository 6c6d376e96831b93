"""Predictions as a table in the terminal, as CSV and as JSON."""

from pathlib import Path
from typing import TYPE_CHECKING

from mooring.wording import csv_table

if TYPE_CHECKING:
    from mooring.federation import Prediction, Predictions

LIMITS = ("unusualness", "unusual", "abstains", "possible classes")  # columns of the table


def predictions_csv(found: "Predictions") -> str:
    """A row per file; what would be a formula in a spreadsheet is guarded."""
    from mooring.federation import Prediction

    classes = sorted({guess.label for row in found.read[:1] for guess in row.guesses})
    each = [f"{found.confidence} of {label}" for label in classes]
    head = ("file", "class", found.confidence, "second class", f"second {found.confidence}", "problem", *each, *LIMITS)
    rows: list[tuple[str, ...]] = []
    for row in found.rows:
        if isinstance(row, Prediction):
            second, shares = row.second, {guess.label: guess.confidence for guess in row.guesses}
            more = ("", "") if second is None else (second.label, f"{second.confidence:.6f}")
            own = [f"{shares[label]:.6f}" for label in classes]
            limits = limit_cells(row)
            rows.append((str(row.file), row.first.label, f"{row.first.confidence:.6f}", *more, "", *own, *limits))
        else:
            rows.append((str(row.file), "", "", "", "", row.problem, *("" for _ in (*classes, *LIMITS))))
    return csv_table(head, rows)


def limit_cells(row: "Prediction") -> tuple[str, ...]:
    """Empty where the model cannot tell."""
    how = "" if row.unusualness is None else f"{row.unusualness:.4f}"
    unusual = "" if row.unusual is None else str(row.unusual).lower()
    return how, unusual, str(row.abstained).lower(), " ".join(row.possible)


def as_json(model: Path, found: "Predictions") -> dict[str, object]:
    from mooring.federation import prediction_tree

    rows = [{"file": str(row.file)} | prediction_tree(row, found.confidence) for row in found.read]
    problems = [{"file": str(row.file), "problem": row.problem} for row in found.unreadable]
    facts = {"model": str(model), "confidence": found.confidence, "limits": found.limits}
    return {**facts, "predictions": rows, "unreadable": problems}


def predictions_table(found: "Predictions") -> None:
    """A line per file that could be read."""
    from rich.table import Table

    from mooring.cli.screen import Screen

    table = Table(box=None, pad_edge=False)
    table.add_column("file", overflow="fold", min_width=20)
    table.add_column("class", style="bold", overflow="fold")
    table.add_column(found.confidence, justify="right", no_wrap=True)
    table.add_column("second", style="dim", overflow="fold")
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column("", style="yellow", overflow="fold")
    for row in found.read:
        second = row.second
        more = ("", "") if second is None else (second.label, share(second.confidence))
        table.add_row(str(row.file), row.first.label, share(row.first.confidence), *more, "; ".join(row.warnings))
    if found.read:
        Screen().print(table)


def share(value: float) -> str:
    """Three decimals; nothing is rounded to certainty."""
    if value < 0.0005:
        return "<0.001"
    return ">0.999" if value >= 0.9995 else f"{value:.3f}"
