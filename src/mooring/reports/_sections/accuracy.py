"""Accuracy of the fused predictor, over rounds and at the end."""

from collections.abc import Collection, Iterator, Sequence
from statistics import fmean

from mooring.record import METRICS
from mooring.reports._accuracies import baseline_of, describe_test_images, metric_cells, positive_class_of
from mooring.reports._figure import INK, Curves, Dots, Figure, Line, PlotValues, Style
from mooring.reports._report_data import ReportData, ReportedRun, SeedGroup
from mooring.reports._section import Section
from mooring.reports._sections.comparison import (
    ACROSS_WARNING,
    RULE,
    TRACKS_APART,
    against_baseline,
    contests,
    pivots,
    settled_labels,
    slug_of,
    titled,
)
from mooring.reports._sections.drawing import (
    QUANTILES,
    by_round,
    client_lines,
    crowded,
    named_line,
    quantile,
    quantile_caption,
    series,
)
from mooring.reports._table import Cell, Spread, Table, spread
from mooring.wording import round_number

LOWER = ", ".join(metric.title for metric in METRICS.values() if metric.better == "lower")
BETTER = f"Higher is better, except for {LOWER}." if LOWER else "Higher is better."
MANY_PANELS = 24
SMALLEST_LOSS = 0.02  # since the peak that is marked


def accuracy(data: ReportData) -> Section:
    if not data.members:
        return Section("accuracy", "Accuracy", "")
    figures: list[Figure] = []
    if len(data.lines) > 1:
        figures += final_accuracies(data)
    if any(len(snapshots(line)) > 1 for line in data.lines):
        figures += over_rounds(data)
    if len(data.members) == 1:
        figures += [
            figure for figure in (client_accuracy_curves(data.runs[0]), by_site(data.runs[0])) if figure is not None
        ]
    by_factor = pivots(data)
    figures += [figure for figure, _ in by_factor]
    tables = (*results(data), *(table for _, table in by_factor), *against_baseline(data), rounds(data))
    return Section("accuracy", "Accuracy", lead(data), tuple(figures), tables)


def lead(data: ReportData) -> str:
    on = dict.fromkeys(describe_test_images(run.result) for run in data.runs)
    text = f"Of the fused predictor, on {'; '.join(on)}. The last round counts, peaks do not."
    return f"{text} {TRACKS_APART}" if len(data.contests) > 1 else text


def over_rounds(data: ReportData) -> Iterator[Curves]:
    """A panel per experiment, apart by track; one that was fused after the last round alone is a single point."""
    for track, lines in data.contests.items():
        if all(len(snapshots(line)) == 1 for line in lines):
            continue
        shown = lines[:MANY_PANELS]
        courses = [accuracy_line(line, *data.looks[line.label]) for line in shown]
        end = " The band is one standard deviation over seeds." if any(len(line.runs) > 1 for line in shown) else ""
        if len(lines) == 1 and (beside := alone(lines[0])):
            courses += beside
            end += " The dashed line is local-only, the mean of the clients' own models."
        x = [at for course in courses for at in course.x]
        courses += [
            Line(name, (min(x), max(x)), (share, share), INK, "dotted")
            for name, share in baseline_level(shown[0].first)
        ]
        once = [line.label for line in shown if len(snapshots(line)) == 1]
        end += f" A single point: fused after the last round only ({'; '.join(once)})." if once else ""
        end += f" Left out, for want of room: {len(lines) - MANY_PANELS}." if len(lines) > MANY_PANELS else ""
        yield Curves(
            slug_of("accuracy", data, track),
            titled("Accuracy over rounds", data, track),
            f"What a server would get if it fused after each round. Peak, end and loss are marked.{end}",
            "round",
            "test accuracy",
            tuple(courses),
            layout="panels" if len(lines) > 1 else "together",
        )


def snapshots(group: SeedGroup) -> dict[int, list[float]]:
    """round, counted from 1 -> the accuracy of every seed that kept it"""
    return by_round((row.round, row.accuracy) for result in group.results for row in result.rounds)


def accuracy_line(group: SeedGroup, index: int, look: Style) -> Line:
    at = snapshots(group)
    middle = [spread(values) or Spread(0.0) for values in at.values()]
    low = tuple(max(value.mean - (value.std or 0), 0.0) for value in middle)
    high = tuple(min(value.mean + (value.std or 0), 1.0) for value in middle)
    means = tuple(value.mean for value in middle)
    band = (low, high) if len(group.runs) > 1 else None
    rounds_ = tuple(map(float, at))
    return Line(group.label, rounds_, means, index, look, band, remarks=peak_and_end(rounds_, means))


def peak_and_end(x: Sequence[float], y: Sequence[float]) -> tuple[tuple[float, float, str], ...]:
    """The peak with its value, and the end with what was lost since."""
    best = max(range(len(y)), key=lambda i: y[i])
    end = (x[-1], y[-1], f"{y[-1]:.3f}")
    if y[best] - y[-1] < SMALLEST_LOSS:
        return (end,)
    return (
        (x[best], y[best], f"{y[best]:.3f}"),
        (x[-1], y[-1], f"{y[-1]:.3f} ({100 * (y[-1] - y[best]):+.1f} points)"),
    )


def alone(group: SeedGroup) -> list[Line]:
    """Mean accuracy of the clients' own models, over clients and seeds."""
    rows = [row for result in group.results for row in result.rounds]
    at = by_round((row.round, client.accuracy) for row in rows for client in row.clients)
    line = named_line("local-only", tuple(map(float, at)), tuple(map(fmean, at.values())), "dashed") if at else None
    return [line] if line and len(line.x) > 1 else []


def client_accuracy_curves(run: ReportedRun) -> Curves | None:
    """The fused predictor in the colour of text, every client's own model in the client's; None: nothing to draw."""
    lines = client_lines(run, lambda _, row: row.accuracy)
    if not lines or max(len(measured_values(shown.y)) for shown in lines) < 2:
        return None
    fused = {float(round_number(row.round)): row.accuracy for row in run.result.rounds}
    lines = [named_line("fused", tuple(fused), tuple(fused.values())), *map(joined, lines)]
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


def by_site(run: ReportedRun) -> Dots | None:
    """The final local-only accuracies, if there are too few rounds for curves."""
    if client_accuracy_curves(run) is not None:
        return None
    own = {client.client: client.accuracy for client in run.result.last.clients if client.accuracy is not None}
    if not own:
        return None
    names, values, colours = tuple(map(run.result.site, own)), tuple(own.values()), tuple(own)
    caption = "Every client's own model, and the fused predictor, on the same test images; dotted: majority class."
    if crowded(run):
        names, colours = ("lowest", "10 % below", "median client", "90 % below", "highest"), (0,) * len(QUANTILES)
        values = tuple(quantile(tuple(own.values()), share) for share in QUANTILES)
        caption = f"Quantiles of {len(own)} clients' own models, and the fused predictor; dotted: majority class."
    return Dots(
        "accuracy-clients",
        "Accuracy of every client",
        caption,
        "test accuracy",
        (*names, "fused"),
        (series("accuracy", [[value] for value in (*values, run.result.accuracy)], 0),),
        colours=(*colours, INK),
        level=next(baseline_level(run), None),
    )


def baseline_level(run: ReportedRun) -> Iterator[tuple[str, float]]:
    """The line to compare with, if it is known."""
    if baseline := baseline_of(run.result):
        yield "majority class", baseline.share


def final_accuracies(data: ReportData) -> Iterator[Dots]:
    """A forest plot for each track, best first, with the intervals of the results table."""
    for track, lines in data.contests.items():
        values = [line.accuracies for line in lines]
        images = lines[0].first.result.test_images
        caption = (
            "Final accuracy with the 95 % interval of the table; the dotted line is the majority-class baseline."
            f"{' Rings are the seeds.' if any(len(seeds) > 1 for seeds in values) else ''}"
        )
        yield Dots(
            slug_of("final-accuracy", data, track),
            titled("Accuracy after the last round", data, track),
            caption,
            "test accuracy",
            tuple(line_name(data, line) for line in lines),
            (series("accuracy", values, 0, images),),
            colours=tuple(data.colour(line.label) for line in lines),
            level=next(baseline_level(lines[0].first), None),
        )


def line_name(data: ReportData, line: SeedGroup) -> str:
    """Beside experiments of other tracks, with its own."""
    return f"{line.label} ({line.track})" if data.across_tracks else line.label


def results(data: ReportData) -> tuple[Table, ...]:
    """A table for each track, best first: intervals, n and seeds; bold where the best is settled."""
    won = settled_labels(contests(data))
    looked = dict.fromkeys(one.label for run in data.members if (one := positive_class_of(run.result, data.positive)))
    return tuple(
        Table.from_rows(
            slug_of("results", data, track),
            titled("Results", data, track),
            (result_cells(data, line, tuple(looked)) for line in lines),
            note(data, lines, won),
            name="Results" if len(data.contests) == 1 else "",
            bold=frozenset((row, 1) for row, line in enumerate(lines) if line.label in won),
        )
        for track, lines in data.contests.items()
    )


def result_cells(data: ReportData, line: SeedGroup, looked: tuple[str, ...]) -> dict[str, Cell]:
    baseline = baseline_of(line.first.result)
    areas = [one.auc for result in line.results if (one := positive_class_of(result, data.positive))]
    return {
        "experiment": line.label,
        **metric_cells((result.metrics for result in line.results), line.first.result.test_images),
        "majority class": baseline.share if baseline else None,
        **({f"AUC of {', '.join(looked)}": spread(areas)} if looked else {}),
        "local-only": spread(run.alone for run in line.runs),
        **({"track": line.track} if data.across_tracks else {}),
        "n": len(line.runs),
        "seeds": line.seeds,
    }


def note(data: ReportData, lines: Sequence[SeedGroup], won: Collection[str]) -> str:
    fewer = {text: None for line in lines for run in line.runs if (text := run.result.local_test_images)}
    on = dict.fromkeys(describe_test_images(run.result) for line in lines for run in line.runs)
    text = (
        f"On {'; '.join(on)}; last round; mean ± standard deviation over n seeds. The 95 % interval is over seeds "
        "(Student's t), and over the test images (Wilson) for a single run or where all seeds are equal. "
        f"Majority class: the accuracy of always predicting the most frequent class. {BETTER}"
    )
    text += "".join(f" Local-only: on {images_}." for images_ in fewer)
    if data.across_tracks:
        text += f" {ACROSS_WARNING}"
    if len(lines) > 1:
        settled = sum(line.label in won for line in lines)
        text += (
            f" {RULE}; {'no settled winner' if not settled else f'{settled} settled' if settled > 1 else 'it is here'}."
        )
    return text


def rounds(data: ReportData) -> Table:
    rows = (
        {"experiment": line.label, "round": at, "accuracy": spread(values), "n": len(values), "track": line.track}
        for lines in data.contests.values()
        for line in lines
        for at, values in snapshots(line).items()
    )
    return Table.from_rows("accuracy-rounds", "Accuracy by round", rows, folded=True)
