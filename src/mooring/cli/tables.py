"""Tables for the terminal."""

from statistics import fmean
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mooring.reports.sizes import size

TRACKS = ("trained from scratch", "frozen encoder", "statistics only")


def results_table(outcomes: list[tuple[str, str, dict[str, Any]]]) -> None:
    """One line per run: the fused accuracy beside what the clients reach alone, and what it cost."""
    table = Table(box=None, pad_edge=False, title_justify="left")
    table.add_column("method", style="bold")
    for heading in ("accuracy", "balanced", "macro F1", "ECE", "alone", "upload", "seconds"):
        table.add_column(heading, justify="right")
    for label, _, result in outcomes:
        table.add_row(
            escape(label),
            f"{result['accuracy']:.3f}",
            f"{result['balanced_accuracy']:.3f}",
            f"{result['macro_f1']:.3f}",
            f"{result['calibration_error']:.3f}",
            alone(result),
            size(upload_bytes(result)),
            f"{result['seconds']:.1f}",
        )
    console = Console()
    console.print(table)
    first = outcomes[0][2]
    seeds = f"training seed {first['seeds']['training']}, split seed {first['seeds']['split']}"
    console.print(f"\n[dim]{first['dataset']}: test set, last round, n = 1, {seeds}[/dim]", highlight=False)
    for _, folder, result in outcomes:
        absent = "".join(f"  client {row['client']}: {row['reason']}" for row in result["absent"])
        console.print(f"run folder: {folder}{absent}", soft_wrap=True, highlight=False, markup=False)


def fusions_table(run: str, rows: list[dict[str, Any]], delivered: int) -> None:
    """One line per rule, best first within its track: how good, what clients upload, what it costs the server."""
    table = Table(box=None, pad_edge=False)
    table.add_column("fusion", style="bold", no_wrap=True)
    for heading in ("accuracy", "balanced", "macro F1", "ECE", "upload", "server s", "passes"):
        table.add_column(heading, justify="right", no_wrap=True)
    ordered = sorted(rows, key=lambda row: (TRACKS.index(row["track"]), -row["accuracy"]))
    for row, following in zip(ordered, [*ordered[1:], None], strict=True):
        table.add_row(
            row["fusion"],
            f"{row['accuracy']:.3f}",
            f"{row['balanced_accuracy']:.3f}",
            f"{row['macro_f1']:.3f}",
            f"{row['calibration_error']:.3f}",
            size(row["upload_bytes"]),
            f"{row['server_seconds']:.2f}",
            str(row["passes"]),
        )
        if following is not None and following["track"] != row["track"]:
            table.add_row()
            table.add_row(f"[dim]{following['track']}[/dim]")
    console = Console()
    console.print(table)
    if not rows:
        return
    first = rows[0]
    who = f"{len(first['clients'])} of {delivered} clients" if len(first["clients"]) < delivered else "all clients"
    seeds = f"training seed {first['seeds']['training']}, split seed {first['seeds']['split']}"
    text = f"{first['method']}: test set, round {first['round']}, {who}, n = 1, {seeds}"
    console.print(f"\n[dim]{text}[/dim]", highlight=False)
    console.print(f"kept in: {run}/fusions", soft_wrap=True, highlight=False, markup=False)


def alone(result: dict[str, Any]) -> str:
    """Mean accuracy of the clients' own models."""
    own = [row["accuracy"] for row in result["rounds"][-1]["clients"] if row["accuracy"] is not None]
    return f"{fmean(own):.3f}" if own else "-"


def upload_bytes(result: dict[str, Any]) -> int:
    """What all clients send for the last round: the one upload of one-shot learning."""
    last = result["rounds"][-1]["round"]
    return sum(int(upload["bytes"]) for upload in result["uploads"] if upload["round"] == last)
