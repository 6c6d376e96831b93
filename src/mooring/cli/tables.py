"""Tables for the terminal: of runs and of fusions."""

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mooring.cli.screen import Screen
from mooring.record import SECONDARY, positive_class, positive_label
from mooring.reports.accuracies import guess_of, tested_on
from mooring.wording import interval_of, plural, size

if TYPE_CHECKING:
    from mooring.record import FusionRecord, Metrics, PositiveClass, Result

INTERVAL = "95 % interval"
HEADINGS = "ECE: calibration error; alone: mean of single clients; upload: of all together"
WIDEST = 24  # characters of a method with what was changed of it
MUCH, FEWER = 0.15, 2000  # a share of the time, and test images that would be enough for a first look
TRACKS = ("trained from scratch", "frozen encoder", "public", "statistics only")


def results_table(outcomes: "list[tuple[str, Result]]", positive: str | None = None) -> None:
    """One line per run: the fused accuracy with its interval, what the clients reach alone, and what it cost; of one
    class, where it is looked for, sensitivity, specificity and AUC."""
    table = Table(box=None, pad_edge=False, title_justify="left")
    table.add_column("method")
    titles = [metric.title for metric in SECONDARY.values()]
    for heading in ("accuracy", INTERVAL, *titles, "alone", "upload"):
        table.add_column(heading, justify="right")
    for name, (_, result) in zip(short_names([result for _, result in outcomes]), outcomes, strict=True):
        table.add_row(
            name,
            decimals(result.metrics.accuracy),
            interval_of(result.metrics.accuracy, result.test_images),
            *(metric.text(metric.of(result.metrics)) for metric in SECONDARY.values()),
            decimals(result.last.accuracy_alone),
            size(result.upload_bytes or 0),
        )
    console = Screen()
    console.print(table, highlight=True)
    first = outcomes[0][1]
    fewer = {local_images: None for _, result in outcomes if (local_images := result.local_test_images)}
    local_images = "".join(f"; alone: on {images}" for images in fewer)
    console.print(
        f"\n{on_what(first.dataset, first.test_images)}; last round; {one_seed(first)}{local_images}", style="dim"
    )
    console.print(chance(first.metrics, first.classes), style="dim")
    console.print(HEADINGS, style="dim")
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


def short_names(results: "Sequence[Result]") -> list[str]:
    """What fits into a column: `fedavg-1 + 4 changes`; all of them are listed below the table, in the same order."""
    names = []
    for result in results:
        method, _, changes = result.method.partition(" + ")
        short = f"{method} + {plural(changes.count('='), 'change')}"
        names.append(short if changes and len(result.method) > WIDEST else result.method)
    numbers = {name: count() for name in names}
    return [f"{name} ({next(numbers[name]) + 1})" if names.count(name) > 1 else name for name in names]


def one_class_table(console: Screen, results: "list[Result]", positive: str | None) -> None:
    """One class against all others, as medicine counts: the one that was named, or the second of two."""
    label = positive_label(results[0].classes, positive)
    if label is None:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("method")
    for heading in ("sensitivity", INTERVAL, "specificity", INTERVAL, "AUC"):
        table.add_column(heading, justify="right")
    for name, result in zip(short_names(results), results, strict=True):
        found = positive_class(result.metrics, result.classes, label)
        once = sum(map(sum, result.metrics.confusion)) == result.test_images  # and not once for every client
        rates = [
            cell
            for rate in (found.sensitivity, found.specificity)
            for cell in (decimals(rate.share), interval_of(rate.share or 0.0, rate.n if once else None))
        ]
        table.add_row(name, *rates, decimals(found.auc))
    console.print()
    console.print(table, highlight=True)
    console.print(f"\n{against_others(found)}", style="dim")


def against_others(found: "PositiveClass") -> str:
    """On how many images, and against what chance."""
    sick, well = found.sensitivity.n, found.specificity.n
    return f"of {found.label!r}: {plural(sick, 'image')} of it and {well:,} of others; AUC by chance 0.5"


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
    titles = [metric.title for metric in SECONDARY.values()]
    for heading in ("accuracy", INTERVAL, *titles, "upload", "server"):
        table.add_column(heading, justify="right", no_wrap=True)
    ordered = sorted(rows, key=lambda row: (TRACKS.index(row.track), -row.accuracy))
    for row, following in zip(ordered, [*ordered[1:], None], strict=True):
        table.add_row(
            row.fusion,
            decimals(row.metrics.accuracy),
            interval_of(row.metrics.accuracy, row.test_images),
            *(metric.text(metric.of(row.metrics)) for metric in SECONDARY.values()),
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
