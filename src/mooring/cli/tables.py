"""Tables for the terminal: of runs, of fusions, and at the end of a sweep."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mooring.cli.accuracies import interval_of
from mooring.cli.arguments import counted
from mooring.cli.terminal import Screen
from mooring.record import looked_for, one_class
from mooring.reports.accuracies import guess_of, tested_on
from mooring.reports.table import size
from mooring.sweep.summary import interval

if TYPE_CHECKING:
    from mooring.config import Plan
    from mooring.record import FusionRecord, Metrics, Result
    from mooring.sweep.lead import Lead
    from mooring.sweep.summary import Factors, SummaryRow
    from mooring.sweep.tables import SweepTables

INTERVAL = "95 % interval"
MUCH, FEWER = 0.15, 2000  # a share of the time, and test images that would be enough for a first look
TRACKS = ("trained from scratch", "frozen encoder", "public", "statistics only")


def results_table(outcomes: "list[tuple[str, Result]]", positive: str | None = None) -> None:
    """One line per run: the fused accuracy with its interval, what the clients reach alone, and what it cost; of one
    class, where it is looked for, sensitivity, specificity and AUC."""
    table = Table(box=None, pad_edge=False, title_justify="left")
    table.add_column("method")
    for heading in ("accuracy", INTERVAL, "balanced", "macro F1", "ECE", "alone", "upload"):
        table.add_column(heading, justify="right")
    for _, result in outcomes:
        table.add_row(
            result.method,
            decimals(result.metrics.accuracy),
            interval_of(result.metrics.accuracy, result.test_images),
            decimals(result.metrics.balanced_accuracy),
            decimals(result.metrics.macro_f1),
            decimals(result.metrics.calibration_error),
            decimals(result.last.accuracy_alone),
            size(result.upload_bytes or 0),
        )
    console = Screen()
    console.print(table, highlight=True)
    first = outcomes[0][1]
    fewer = {told: None for _, result in outcomes if (told := result.alone_told)}
    told = "".join(f"; alone: on {images}" for images in fewer)
    console.print(f"\n{on_what(first.dataset, first.test_images)}; last round; {one_seed(first)}{told}", style="dim")
    console.print(chance(first.metrics, first.classes), style="dim")
    if len(outcomes) > 1:
        console.print("no settled winner by one seed; mooring sweep compares over several", style="dim")
    for folder, result in outcomes:
        spent = result.spent or f"{result.seconds or 0:.1f} s"
        console.print(f"{result.method}: {spent}", style="dim", soft_wrap=True)
        if result.spent and result.spent.evaluated > MUCH and (result.test_images or 0) > FEWER:
            share = f"evaluation took {100 * result.spent.evaluated:.0f} % of the time"
            console.print(f"{share}; data.test_limit={FEWER} tests on fewer images", style="dim", soft_wrap=True)
        absent = "".join(f"  {result.site(row.client)}: {row.reason}" for row in result.absent)
        console.print(f"run folder: {folder}{absent}", soft_wrap=True)
    one_class_table(console, [result for _, result in outcomes], positive)


def one_class_table(console: Screen, results: "list[Result]", positive: str | None) -> None:
    """One class against all others, as medicine counts: the one that was named, or the second of two."""
    label = looked_for(results[0].classes, positive)
    if label is None:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("method")
    for heading in ("sensitivity", INTERVAL, "specificity", INTERVAL, "AUC"):
        table.add_column(heading, justify="right")
    for result in results:
        found = one_class(result.metrics, result.classes, label)
        once = sum(map(sum, result.metrics.confusion)) == result.test_images  # and not once for every client
        rates = [
            cell
            for rate in (found.sensitivity, found.specificity)
            for cell in (decimals(rate.share), interval_of(rate.share or 0.0, rate.n if once else None))
        ]
        table.add_row(result.method, *rates, decimals(found.auc))
    sick, well = found.sensitivity.n, found.specificity.n
    console.print()
    console.print(table, highlight=True)
    console.print(
        f"\nof {label!r}: {counted(sick, 'image')} of it and {well:,} of others; AUC by chance 0.5", style="dim"
    )


def on_what(source: str | None, images: int | None) -> str:
    """accuracy on 360 test images: ..."""
    return f"accuracy on {tested_on(source or '', images)}"


def one_seed(found: "Result | FusionRecord") -> str:
    return f"n = 1 (training seed {found.seeds.training}, split seed {found.seeds.split}), interval by Wilson"


def chance(metrics: "Metrics", classes: "Sequence[str]") -> str:
    """What a plain guess would reach."""
    guess = guess_of(metrics, classes or [""] * len(metrics.confusion))
    if guess is None:
        return "chance level: unknown"
    how = f"always saying {guess.label!r}" if guess.label else "always saying the most frequent class"
    return f"chance level: {how} is right for {guess.share:.3f} of them"


def fusions_table(run: str, rows: "list[FusionRecord]", delivered: int, trained: "Result") -> None:
    """One line per rule, best first within its track: how good, what clients upload, what it costs the server."""
    table = Table(box=None, pad_edge=False)
    table.add_column("fusion", no_wrap=True)
    for heading in ("accuracy", INTERVAL, "balanced", "ECE", "upload", "server"):
        table.add_column(heading, justify="right", no_wrap=True)
    ordered = sorted(rows, key=lambda row: (TRACKS.index(row.track), -row.accuracy))
    for row, following in zip(ordered, [*ordered[1:], None], strict=True):
        table.add_row(
            row.fusion,
            decimals(row.metrics.accuracy),
            interval_of(row.metrics.accuracy, row.test_images),
            decimals(row.metrics.balanced_accuracy),
            decimals(row.metrics.calibration_error),
            size(row.upload_bytes or 0),
            f"{row.server_seconds:.2f} s",
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
    where = f"{first.method}: {on_what(trained.dataset, first.test_images)}; round {first.round}, {who}"
    console.print(f"\n{where}; {one_seed(first)}", style="dim")
    settled = "; no settled winner by one run" if len(rows) > 1 else ""
    console.print(f"{chance(first.metrics, trained.classes)}{settled}", style="dim")
    console.print(f"kept in: {run}/fusions", soft_wrap=True)


def decimals(value: float | None) -> str:
    """Three of them; a dash for what is not known."""
    return "-" if value is None else f"{value:.3f}"


def summary_table(plan: "Plan", tables: "SweepTables", out: Path) -> None:
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
    for row in sorted(tables.summary, key=best_first):
        cells = [shown(row.factors[factor]) for factor in factors]
        cells += [spread(row.validation, None)] if plan.search else []
        cells += [spread(row.mean, row.std), str(row.n), interval_over_seeds(row)]
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


def interval_over_seeds(row: "SummaryRow") -> str:
    """Student's t; one seed says nothing of others."""
    if row.mean is None or row.std is None:
        return "-"
    half = interval(row.std, row.n)
    return f"{max(row.mean - half, 0.0):.3f}-{min(row.mean + half, 1.0):.3f}"


def caption(plan: "Plan", tables: "SweepTables") -> "Iterator[str]":
    """On what images, over how many seeds, against what chance, and who has won."""
    known = [row.result.metrics for row in tables.results if row.result is not None]
    images = {sum(map(sum, metrics.confusion)) for metrics in known if metrics.confusion}
    sources = {plan.experiment_at(point).data.source for point in plan.points()}
    where = on_what(sources.pop(), images.pop()) if len(sources) == len(images) == 1 else "accuracy on test images"
    runs = f"{len(known)} of {counted(len(tables.results), 'run')} finished"
    yield f"\n{where}; last round: mean ± standard deviation over n seeds, interval by Student's t; {runs}"
    if known and known[0].confusion:
        yield chance(known[0], ())
    for lead in [] if plan.search else tables.leads:
        yield verdict(lead)


def verdict(lead: "Lead[Factors]") -> str:
    """Settled only if the paired interval of the difference to every other one excludes 0."""
    nearest, gap = lead.nearest
    best, other = combination(lead.best), combination(nearest)
    if gap.mean is None:
        return f"no settled winner: {best} leads, and has no seed in common with {other}"
    if gap.low is None:
        return f"no settled winner: {best} leads {other} by {gap.mean:+.3f} with one seed alone"
    told = f"{gap.mean:+.3f}, 95 % interval {gap.low:+.3f} to {gap.high:+.3f}, {counted(gap.pairs, 'pair')} of seeds"
    if lead.settled:
        return f"settled: {best} is better than every other, {other} the nearest ({told})"
    return f"no settled winner: {best} leads {other} by {told}"


def combination(factors: "Factors") -> str:
    return ", ".join(shown(value) for value in factors.values())


def shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def spread(mean: float | None, std: float | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.3f}" + ("" if std is None else f" ± {std:.3f}")
