"""Tables for the terminal: of runs, of fusions, and at the end of a sweep."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mooring.cli.terminal import Screen
from mooring.reports.table import size

if TYPE_CHECKING:
    from mooring.config import Plan
    from mooring.record import FusionRecord, Result
    from mooring.sweep.summary import SummaryRow
    from mooring.sweep.tables import SweepTables

TRACKS = ("trained from scratch", "frozen encoder", "public", "statistics only")


def results_table(outcomes: "list[tuple[str, Result]]") -> None:
    """One line per run: the fused accuracy beside what the clients reach alone, and what it cost."""
    table = Table(box=None, pad_edge=False, title_justify="left")
    table.add_column("method", style="bold")
    for heading in ("accuracy", "balanced", "macro F1", "ECE", "alone", "upload", "seconds"):
        table.add_column(heading, justify="right")
    for _, result in outcomes:
        table.add_row(
            result.method,
            decimals(result.metrics.accuracy),
            decimals(result.metrics.balanced_accuracy),
            decimals(result.metrics.macro_f1),
            decimals(result.metrics.calibration_error),
            decimals(result.last.accuracy_alone),
            size(result.upload_bytes or 0),
            f"{result.seconds or 0:.1f}",
        )
    console = Screen()
    console.print(table, highlight=True)
    first = outcomes[0][1]
    seeds = f"training seed {first.seeds.training}, split seed {first.seeds.split}"
    fewer = {told: None for _, result in outcomes if (told := result.alone_told)}
    told = "".join(f"; alone: on {images}" for images in fewer)
    console.print(f"\n{first.dataset}: test set, last round, n = 1, {seeds}{told}", style="dim")
    for folder, result in outcomes:
        if result.spent is not None:
            console.print(f"{result.method}: {result.spent}", style="dim", soft_wrap=True)
        absent = "".join(f"  {result.site(row.client)}: {row.reason}" for row in result.absent)
        console.print(f"run folder: {folder}{absent}", soft_wrap=True)


def fusions_table(run: str, rows: "list[FusionRecord]", delivered: int) -> None:
    """One line per rule, best first within its track: how good, what clients upload, what it costs the server."""
    table = Table(box=None, pad_edge=False)
    table.add_column("fusion", style="bold", no_wrap=True)
    for heading in ("accuracy", "balanced", "macro F1", "ECE", "upload", "server s", "passes"):
        table.add_column(heading, justify="right", no_wrap=True)
    ordered = sorted(rows, key=lambda row: (TRACKS.index(row.track), -row.accuracy))
    for row, following in zip(ordered, [*ordered[1:], None], strict=True):
        table.add_row(
            row.fusion,
            decimals(row.metrics.accuracy),
            decimals(row.metrics.balanced_accuracy),
            decimals(row.metrics.macro_f1),
            decimals(row.metrics.calibration_error),
            size(row.upload_bytes or 0),
            f"{row.server_seconds:.2f}",
            str(row.passes),
        )
        if following is not None and following.track != row.track:
            table.add_row()
            table.add_row(Text(following.track, "dim"))
    console = Screen()
    console.print(table, highlight=True)
    if not rows:
        return
    first = rows[0]
    who = f"{len(first.clients)} of {delivered} clients" if len(first.clients) < delivered else "all clients"
    seeds = f"training seed {first.seeds.training}, split seed {first.seeds.split}"
    text = f"{first.method}: test set, round {first.round}, {who}, n = 1, {seeds}"
    console.print(f"\n{text}", style="dim")
    console.print(f"kept in: {run}/fusions", soft_wrap=True)


def decimals(value: float | None) -> str:
    """Three of them; a dash for what is not known."""
    return "-" if value is None else f"{value:.3f}"


def summary_table(plan: "Plan", tables: "SweepTables", out: Path) -> None:
    """Means over seeds, best first, with the difference from the baseline where there is one."""
    factors = list(tables.summary[0].factors) if tables.summary else []
    table = Table(box=None, pad_edge=False)
    for factor in factors:
        table.add_column(factor.split(".")[-1], style="bold" if factor == factors[0] else "")
    if plan.search:
        table.add_column("validation", justify="right")
    for heading in ("accuracy", "n", *((f"against {plan.baseline}", "95 % interval") if plan.baseline else ())):
        table.add_column(heading, justify="right")

    def best_first(row: "SummaryRow") -> float:
        value = row.validation if plan.search else row.mean
        return 1.0 if value is None else -value

    for row in sorted(tables.summary, key=best_first):
        cells = [shown(row.factors[factor]) for factor in factors]
        cells += [spread(row.validation, None)] if plan.search else []
        cells += [spread(row.mean, row.std), str(row.n)]
        if plan.baseline in {f"{factor}={row.factors[factor]}" for factor in factors}:
            cells += ["-", "-"]
        elif row.difference is not None:
            gap = row.difference
            cells += ["-" if gap.mean is None else f"{gap.mean:+.3f}"]
            cells += ["-" if gap.low is None else f"{gap.low:+.3f} to {gap.high:+.3f}"]
        table.add_row(*cells)
    console = Screen()
    console.print(table, highlight=True)
    if plan.search:
        console.print("\nsorted by validation accuracy, which is what the search goes by", style="dim")
    console.print("\ntest set, last round: mean ± standard deviation over seeds", style="dim")
    for name, status in tables.failures.items():
        console.print(f"{name}: {status}", style="yellow", soft_wrap=True)
    console.print(f"sweep folder: {out} (results.csv, summary.csv)", soft_wrap=True)


def shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def spread(mean: float | None, std: float | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.3f}" + ("" if std is None else f" ± {std:.3f}")
