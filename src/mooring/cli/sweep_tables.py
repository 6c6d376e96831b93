"""The table at the end of a sweep."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from mooring.config import Plan

MEASURED = ("validation", "n", "mean", "std", "difference", "pairs", "low", "high")


def summary_table(plan: "Plan", rows: list[dict[str, Any]], failures: dict[str, str], out: Path) -> None:
    """Means over seeds, best first, with the difference from the baseline where there is one."""
    factors = [key for key in (rows[0] if rows else {}) if key not in MEASURED]
    table = Table(box=None, pad_edge=False)
    for factor in factors:
        table.add_column(factor.split(".")[-1], style="bold" if factor == factors[0] else "")
    if plan.search:
        table.add_column("validation", justify="right")
    for heading in ("accuracy", "n", *((f"against {plan.baseline}", "95 % interval") if plan.baseline else ())):
        table.add_column(heading, justify="right")
    judged_by = "validation" if plan.search else "mean"
    for row in sorted(rows, key=lambda row: -(row[judged_by] if row[judged_by] is not None else -1)):
        cells = [shown(row[factor]) for factor in factors]
        cells += [spread(row["validation"], None)] if plan.search else []
        cells += [spread(row["mean"], row["std"]), str(row["n"])]
        if plan.baseline in {f"{factor}={row[factor]}" for factor in factors}:
            cells += ["-", "-"]
        elif plan.baseline:
            gap, low, high = row["difference"], row["low"], row["high"]
            cells += ["-" if gap is None else f"{gap:+.3f}", "-" if low is None else f"{low:+.3f} to {high:+.3f}"]
        table.add_row(*cells)
    console = Console()
    console.print(table)
    if plan.search:
        console.print("\n[dim]sorted by validation accuracy, which is what the search goes by[/dim]", highlight=False)
    console.print("\n[dim]test set, last round: mean ± standard deviation over seeds[/dim]", highlight=False)
    for name, status in failures.items():
        console.print(f"{name}: {status}", style="yellow", soft_wrap=True, highlight=False, markup=False)
    console.print(f"sweep folder: {out} (results.csv, summary.csv)", soft_wrap=True, highlight=False, markup=False)


def shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def spread(mean: float | None, std: float | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.3f}" + ("" if std is None else f" ± {std:.3f}")
