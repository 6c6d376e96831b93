"""The tables at the end of a sweep: means over seeds, and one class against all others."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from mooring.cli.screen import Screen
from mooring.cli.tables import INTERVAL, against_others, chance, decimals, on_what
from mooring.reports.accuracies import Sureness, sure_of
from mooring.reports.table import Spread, spread
from mooring.sweep.tables import of_class
from mooring.wording import plural, setting

if TYPE_CHECKING:
    from mooring.config import Plan
    from mooring.record import PositiveClass
    from mooring.sweep.best import Best
    from mooring.sweep.summary import Factors, SummaryRow
    from mooring.sweep.tables import SweepTables


def summary_table(plan: "Plan", tables: "SweepTables", out: Path, positive: str | None = None) -> None:
    """Means over seeds with their interval, best first; the difference from the baseline where there is one."""
    factors = list(tables.summary[0].factors) if tables.summary else []
    table = Table(box=None, pad_edge=False)
    for factor in factors:
        table.add_column(factor.split(".")[-1])
    if plan.search:
        table.add_column("validation", justify="right")
    compared = (f"minus\n{plan.baseline}", f"{INTERVAL}\nof difference") if plan.baseline else ()
    for heading in ("accuracy", "n", f"{INTERVAL}\nof the mean", *compared):
        table.add_column(heading, justify="right")

    def best_first(row: "SummaryRow") -> float:
        value = row.validation if plan.search else row.mean
        return 1.0 if value is None else -value

    won = [lead.best for lead in tables.leads if lead.settled and not plan.search]
    ordered = sorted(tables.summary, key=best_first)
    for row in ordered:
        cells = [setting(row.factors[factor]) for factor in factors]
        cells += [decimals(row.validation)] if plan.search else []
        accuracies = [result.metrics.accuracy for result in tables.of(row)]
        images = next((result.test_images for result in tables.of(row)), None)
        cells += [
            plus_minus(spread(accuracies)),
            str(row.n),
            interval_text(sure_of(accuracies, images)),
        ]
        if plan.baseline in {f"{factor}={row.factors[factor]}" for factor in factors}:
            cells += ["-", "-"]
        elif row.difference is not None:
            gap = row.difference
            cells += ["-" if gap.mean is None else f"{gap.mean:+.3f}"]
            cells += ["-" if gap.low is None else f"{gap.low:+.3f} to {gap.high:+.3f}"]
        table.add_row(*cells, style="bold" if row.factors in won else "")
    console = Screen()
    console.print(table, highlight=True)
    if plan.search:
        console.print("\nsorted by validation accuracy, which is what the search goes by", style="dim")
    for line in caption(plan, tables):
        console.print(line, style="dim")
    for name, status in tables.failures.items():
        console.print(f"{name}: {status}", style="yellow", soft_wrap=True)
    console.print(f"sweep folder: {out} (results.csv, summary.csv)", soft_wrap=True)
    one_class_over_seeds(console, tables, ordered, positive)


def one_class_over_seeds(
    console: Screen, tables: "SweepTables", rows: "Sequence[SummaryRow]", positive: str | None
) -> None:
    """As medicine counts: the class that was named, or the second of two, as the first run that ended has them."""
    label = tables.positive_label(positive)
    if label is None:
        return
    ended = (run.result for run in tables.results if run.result is not None)
    table = Table(box=None, pad_edge=False)
    for factor in rows[0].factors:
        table.add_column(factor.split(".")[-1])
    for heading in ("sensitivity", "specificity", "AUC", f"{INTERVAL}\nof the mean AUC"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*map(setting, row.factors.values()), *medical(list(of_class(tables.of(row), label))))
    console.print()
    console.print(table, highlight=True)
    for found in islice(of_class(ended, label), 1):
        console.print(f"\n{against_others(found)}; mean ± standard deviation over seeds", style="dim")


def medical(found: "Sequence[PositiveClass]") -> list[str]:
    """Sensitivity, specificity, AUC and the interval of its mean; a dash where no run tells."""
    rates = [one.sensitivity.share for one in found], [one.specificity.share for one in found]
    auc = [one.auc for one in found if one.auc is not None]
    return [*(plus_minus(spread(values)) for values in (*rates, auc)), interval_text(sure_of(auc, None))]


def interval_text(sure: Sureness | None) -> str:
    return f"{sure.low:.3f}-{sure.high:.3f}" if sure else "-"


def caption(plan: "Plan", tables: "SweepTables") -> "Iterator[str]":
    """On what images, over how many seeds, against what chance, and who has won."""
    known = [row.result for row in tables.results if row.result is not None]
    images = {result.test_images for result in known}
    sources = {plan.experiment_at(point).data.source for point in plan.points()}
    where = on_what(sources.pop(), images.pop()) if len(sources) == len(images) == 1 else "accuracy on test images"
    runs = f"{len(known)} of {plural(len(tables.results), 'run')} finished"
    how = "interval by Student's t, of one seed or equal ones by Wilson over the images"
    yield f"\n{where}; last round: mean ± standard deviation over n seeds, {how}; {runs}"
    if known and known[0].metrics.confusion:
        yield chance(known[0].metrics, known[0].classes)
    for lead in [] if plan.search else tables.leads:
        yield verdict(lead)


def verdict(lead: "Best[Factors]") -> str:
    """Settled only if the paired interval of the difference to every other one excludes 0."""
    nearest, gap = lead.nearest
    best, other = combination(lead.best), combination(nearest)
    if gap.mean is None:
        return f"no settled winner: {best} leads, and has no seed in common with {other}"
    if gap.low is None:
        return f"no settled winner: {best} leads {other} by {gap.mean:+.3f} with one seed alone"
    gap_text = f"{gap.mean:+.3f}, 95 % interval {gap.low:+.3f} to {gap.high:+.3f}, {plural(gap.pairs, 'pair')} of seeds"
    if lead.settled:
        return f"settled: {best} is better than every other, {other} the nearest ({gap_text})"
    return f"no settled winner: {best} leads {other} by {gap_text}"


def combination(factors: "Factors") -> str:
    return ", ".join(setting(value) for value in factors.values())


def plus_minus(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    return f"{spread.mean:.3f}" + ("" if spread.std is None else f" ± {spread.std:.3f}")
