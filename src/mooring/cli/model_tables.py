"""What a model says, and how good it is, in the terminal."""

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mooring.cli.screen import Screen
from mooring.wording import percent, percent_range

if TYPE_CHECKING:
    from mooring.federation.assessment import Assessment
    from mooring.federation.predict import Predictions
    from mooring.intervals import Rate
    from mooring.record import PositiveClass

MOST_CLASSES = 8  # whose confusion still fits a terminal
WIDEST = 9  # letters of a class above a column


def predictions_table(found: "Predictions") -> None:
    """A line per file that could be read."""
    table = Table(box=None, pad_edge=False)
    table.add_column("file", overflow="fold", min_width=20)
    table.add_column("class", style="bold", overflow="fold")
    table.add_column(found.confidence, justify="right", no_wrap=True)
    table.add_column("second", style="dim", overflow="fold")
    table.add_column("", justify="right", style="dim", no_wrap=True)
    for row in found.read:
        second = row.second
        more = ("", "") if second is None else (second.label, share(second.confidence))
        table.add_row(str(row.file), row.first.label, share(row.first.confidence), *more)
    if found.read:
        Screen().print(table)


def share(value: float) -> str:
    """Three decimals; nothing is rounded to certainty."""
    if value < 0.0005:
        return "<0.001"
    return ">0.999" if value >= 0.9995 else f"{value:.3f}"


def assessment_tables(found: "Assessment") -> None:
    """The sentence first, then classes, sites, one class against the others, and who was taken for whom."""
    console = Screen()
    console.print(Text(found.words, "bold"), soft_wrap=True)
    console.print(found.for_new_images, style="yellow" if found.trained else "dim", soft_wrap=True)
    console.print(found.against_chance, style="dim", soft_wrap=True)
    classes = rates("class", "found", "95 % interval", "said rightly", "95 % interval")
    for row in found.classes:
        classes.add_row(row.label, *cells(row.found), *cells(row.precision))
    console.print()
    console.print(classes)
    if found.sites:
        sites = rates("site", "right", "95 % interval")
        for site in found.sites:
            sites.add_row(site.site, *cells(site.right))
        console.print()
        console.print(sites)
    if found.positive is not None:
        console.print()
        for line in positive_lines(found.positive):
            console.print(line, soft_wrap=True)
    if found.calibration_error is not None:
        console.print(f"probabilities are off by {found.calibration_error:.3f} on average (ECE)", soft_wrap=True)
    if len(found.classes) <= MOST_CLASSES:
        console.print()
        console.print(confusion_table(found))


def rates(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(headings[0], style="bold", overflow="fold")
    for heading in headings[1:]:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def cells(rate: "Rate") -> tuple[str, str]:
    return f"{rate.right} of {rate.n}  {percent(rate.share):>5}", percent_range(rate.interval)


def positive_lines(found: "PositiveClass") -> list[str]:
    """`positive: cat` as medicine says it."""
    auc = "unknown: all images are of one kind" if found.auc is None else f"{found.auc:.3f}"
    return [
        f"positive class {found.label!r}",
        f"  sensitivity  {rate_text(found.sensitivity)}",
        f"  specificity  {rate_text(found.specificity)}",
        f"  AUC          {auc}",
    ]


def rate_text(rate: "Rate") -> str:
    return f"{percent(rate.share)} ({rate.right} of {rate.n}), 95 % interval {percent_range(rate.interval)}"


def confusion_table(found: "Assessment") -> Table:
    """A row per true class, a column per predicted one."""
    table = Table(box=None, pad_edge=False)
    table.add_column("true \\ said", style="bold", overflow="fold")
    for row in found.classes:
        table.add_column(row.label[:WIDEST], justify="right", no_wrap=True)
    for row, counts in zip(found.classes, found.confusion, strict=True):
        shown = [Text(str(n), "" if n else "dim") for n in counts]
        table.add_row(row.label, *shown)
    return table
