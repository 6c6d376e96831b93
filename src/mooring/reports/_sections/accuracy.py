"""Accuracy of the fused predictor, over rounds and at the end."""

from collections.abc import Iterator
from statistics import fmean

from mooring.record import METRICS
from mooring.reports._accuracies import baseline_of, describe_test_images, metric_cells, positive_class_of
from mooring.reports._figure import INK, Bars, Curves, Figure, Line, PlotValues, style
from mooring.reports._report_data import ReportData, Run, SeedGroup
from mooring.reports._section import Section
from mooring.reports._sections.comparison import RULE, against_baseline, contests, pivots, settled_labels
from mooring.reports._sections.drawing import (
    QUANTILES,
    by_round,
    client_lines,
    crowded,
    over_seeds,
    quantile,
    quantile_caption,
    series,
)
from mooring.reports._table import Spread, Table, spread
from mooring.wording import round_number

LOWER = ", ".join(metric.title for metric in METRICS.values() if metric.better == "lower")
BETTER = f"Higher is better, except for {LOWER}." if LOWER else "Higher is better."


def accuracy(data: ReportData) -> Section:
    if not data.runs:
        return Section("accuracy", "Accuracy", "")
    figures: list[Figure] = []
    if any(len(snapshots(group)) > 1 for group in data.groups):
        figures.append(over_rounds(data))
    if len(data.lines) > 1:
        figures.append(final_accuracy_bars(data))
    if len(data.members) == 1:
        figures += [
            figure for figure in (client_accuracy_curves(data.runs[0]), by_site(data.runs[0])) if figure is not None
        ]
    by_factor = pivots(data)
    figures += [figure for figure, _ in by_factor]
    tables = (results(data), *(table for _, table in by_factor), *against_baseline(data), rounds(data))
    return Section("accuracy", "Accuracy", lead(data), tuple(figures), tables)


def lead(data: ReportData) -> str:
    on = dict.fromkeys(describe_test_images(run.result) for run in data.runs)
    return f"Of the fused predictor, on {'; '.join(on)}. The last round counts, peaks do not."


def over_rounds(data: ReportData) -> Curves:
    """Experiments that kept several rounds; one that kept the last alone has no course."""
    courses = [group for group in data.groups if len(snapshots(group)) > 1]
    lines = [accuracy_line(group, data.colour(group.label)) for group in courses]
    many = max(len(group.runs) for group in data.groups) > 1
    caption_end = " The band is one standard deviation over seeds." if many else ""
    if len(data.groups) == 1 and len((beside := alone(data.groups[0])).x) > 1:
        lines.append(beside)
        caption_end += " The dashed line is the mean of the clients alone: fusing should lift the solid line above it."
    for name, share in baseline_level(data.runs[0]):
        ends = (lines[0].x[0], lines[0].x[-1])
        lines.append(Line(name, ends, (share, share), INK, "dotted"))
    left = [group.label for group in data.groups if group not in courses]
    caption_end += f" Not drawn, since one round alone was kept: {'; '.join(left)}." if left else ""
    caption = f"What a server would get if it fused after each round.{caption_end}"
    return Curves("accuracy", "Accuracy over rounds", caption, "round", "test accuracy", tuple(lines))


def snapshots(group: SeedGroup) -> dict[int, list[float]]:
    """round, counted from 1 -> the accuracy of every seed that kept it"""
    return by_round((row.round, row.accuracy) for result in group.results for row in result.rounds)


def accuracy_line(group: SeedGroup, index: int) -> Line:
    at = snapshots(group)
    middle = [spread(values) or Spread(0.0) for values in at.values()]
    low = tuple(max(value.mean - (value.std or 0), 0.0) for value in middle)
    high = tuple(min(value.mean + (value.std or 0), 1.0) for value in middle)
    means = tuple(value.mean for value in middle)
    band = (low, high) if len(group.runs) > 1 else None
    return Line(group.label, tuple(map(float, at)), means, index, style(index), band)


def alone(group: SeedGroup) -> Line:
    """Mean accuracy of the clients' own models, over clients and seeds."""
    rows = [row for result in group.results for row in result.rounds]
    at = by_round((row.round, client.accuracy) for row in rows for client in row.clients)
    return Line("clients alone", tuple(map(float, at)), tuple(map(fmean, at.values())), 0, "dashed")


def client_accuracy_curves(run: Run) -> Curves | None:
    """The fused predictor in the colour of text, every client's own model in the client's; None: nothing to draw."""
    lines = client_lines(run, lambda _, row: row.accuracy)
    if not lines or max(len(measured_values(shown.y)) for shown in lines) < 2:
        return None
    fused = {float(round_number(row.round)): row.accuracy for row in run.result.rounds}
    lines = [Line("fused", tuple(fused), tuple(fused.values()), INK), *map(joined, lines)]
    caption = f"The fused predictor, and every client's own model, on the same test images.{quantile_caption(run)}"
    title = "Accuracy of every client"
    return Curves("accuracy-clients", title, caption, "round", "test accuracy", tuple(lines), seeds=(run.seed,))


def measured_values(values: PlotValues) -> list[float]:
    return [value for value in values if value is not None]


def joined(shown: Line) -> Line:
    """Without rounds that were not evaluated; quantiles have no such rounds."""
    if shown.band is not None:
        return shown
    kept = [(x, y) for x, y in zip(shown.x, shown.y, strict=True) if y is not None]
    return Line(shown.name, tuple(x for x, _ in kept), tuple(y for _, y in kept), shown.colour, family=shown.family)


def by_site(run: Run) -> Bars | None:
    """The final local-only accuracies, if there are too few rounds for curves."""
    if client_accuracy_curves(run) is not None:
        return None
    own = {client.client: client.accuracy for client in run.last.clients if client.accuracy is not None}
    if not own:
        return None
    names, values, colours = tuple(map(run.result.site, own)), tuple(own.values()), tuple(own)
    caption = "Every client's own model, and the fused predictor, on the same test images; dotted: majority class."
    if crowded(run):
        names, colours = ("lowest", "10 % below", "median client", "90 % below", "highest"), (0,) * len(QUANTILES)
        values = tuple(quantile(tuple(own.values()), share) for share in QUANTILES)
        caption = f"Quantiles of {len(own)} clients' own models, and the fused predictor; dotted: majority class."
    return Bars(
        "accuracy-clients",
        "Accuracy of every client",
        caption,
        "test accuracy",
        (*names, "fused"),
        (series("accuracy", [[value] for value in (*values, run.result.accuracy)], 0),),
        colours=(*colours, INK),
        level=next(baseline_level(run), None),
    )


def baseline_level(run: Run) -> Iterator[tuple[str, float]]:
    """The line to compare with, if it is known."""
    if baseline := baseline_of(run.result):
        yield "majority class", baseline.share


def final_accuracy_bars(data: ReportData) -> Bars:
    labels = tuple(group.label for group in data.lines)
    values = [group.accuracies for group in data.lines]
    ends = series("accuracy", values, 0)
    caption = (
        "Final accuracy; the dotted line is the majority-class baseline. Whether an order is settled, the table says."
    )
    caption += over_seeds(values)
    return Bars(
        "final-accuracy",
        "Accuracy after the last round",
        caption,
        "test accuracy",
        labels,
        (ends,),
        colours=tuple(map(data.colour, labels)),
        level=next(baseline_level(data.runs[0]), None),
    )


def results(data: ReportData) -> Table:
    """One line per experiment, with its interval, n and seeds; bold where the best is settled."""
    found = contests(data)
    won = settled_labels(found)
    looked = dict.fromkeys(one.label for run in data.members if (one := positive_class_of(run.result, data.positive)))
    rows = []
    for group in data.lines:
        baseline = baseline_of(group.first.result)
        areas = [one.auc for result in group.results if (one := positive_class_of(result, data.positive))]
        rows.append(
            {
                "experiment": group.label,
                **metric_cells((result.metrics for result in group.results), group.first.result.test_images),
                "majority class": baseline.share if baseline else None,
                **({f"AUC of {', '.join(looked)}": spread(areas)} if looked else {}),
                "clients alone": spread(run.alone for run in group.runs),
                "n": len(group.runs),
                "seeds": group.seeds,
            }
        )
    bold = frozenset((row, 1) for row, group in enumerate(data.lines) if group.label in won)
    return Table.from_rows("results", "Results", rows, note(data, bool(found), len(won)), bold=bold)


def note(data: ReportData, contested: bool, won: int) -> str:
    fewer = {text: None for run in data.runs if (text := run.result.local_test_images)}
    on = dict.fromkeys(describe_test_images(run.result) for run in data.runs)
    text = (
        f"On {'; '.join(on)}; last round; mean ± standard deviation over n seeds. The 95 % interval is over seeds "
        "(Student's t), and over the test images (Wilson) for a single run or where all seeds are equal. "
        f"Majority class: the accuracy of always predicting the most frequent class. {BETTER}"
    )
    text += "".join(f" Clients alone: on {images_}." for images_ in fewer)
    if contested:
        text += f" {RULE}; {'no settled winner' if not won else f'{won} settled' if won > 1 else 'it is here'}."
    return text


def rounds(data: ReportData) -> Table:
    rows = (
        {"experiment": group.label, "round": at, "accuracy": spread(values), "n": len(values)}
        for group in data.groups
        for at, values in snapshots(group).items()
    )
    return Table.from_rows("accuracy-rounds", "Accuracy by round", rows, folded=True)
