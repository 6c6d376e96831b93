"""Accuracy by class, and confusion."""

from dataclasses import replace

from mooring.reports._accuracies import one_class_table
from mooring.reports._figure import Dots, Figure, Heat
from mooring.reports._report_data import ReportData, ReportedRun, seeds_of
from mooring.reports._section import Section
from mooring.reports._sections.comparison import slug_of, titled
from mooring.reports._sections.drawing import SeedValues, side_by_side
from mooring.reports._table import Table, spread


def classes(data: ReportData) -> Section:
    tables = one_class_table((({"experiment": line.label}, line.results) for line in data.lines), data.positive)
    data = replace(data, members=tuple(run for run in data.members if run.result.metrics.confusion))
    if not data.runs:
        return Section("classes", "Classes", "")
    names = max((run.result.classes for run in data.runs), key=len)
    figures: list[Figure] = []
    for track, lines in data.contests.items():
        found = {line.label: [known_values(column) for column in by_class(list(line.runs))] for line in lines}
        slug, title = slug_of("per-class", data, track), titled("Accuracy by class", data, track)
        caption = "Share of each class's test images that is recognised; where it is empty, none was."
        blank = Dots(slug, title, caption, "accuracy", names, ())
        figures.append(side_by_side(blank, found, "class", {label: data.colour(label) for label in found}))
        tables = (*tables, per_class_table(found, names, data, slug, title))
    figures += [confusion(run) for run in data.shown]
    lead = f"An accuracy of one half can be all classes half right, or half the classes never named.{data.not_shown}"
    return Section("classes", "Classes", lead, tuple(figures), tables)


def known_values(column: tuple[float | None, ...]) -> list[float]:
    return [value for value in column if value is not None]


def by_class(runs: list[ReportedRun]) -> list[tuple[float | None, ...]]:
    return list(zip(*(run.result.metrics.per_class_accuracy for run in runs), strict=True))


def confusion(run: ReportedRun) -> Heat:
    counts = run.result.metrics.confusion
    rows = tuple(tuple(count / sum(row) if sum(row) else None for count in row) for row in counts)
    names = run.result.classes
    caption = (
        "Each row adds up to 1: of the images of a class, the share that is taken for each class. "
        "A full column is a class that swallows others."
    )
    return Heat("confusion", "Confusion", caption, "predicted class", "true class", names, names, rows, run.title)


def per_class_table(
    found: dict[str, SeedValues], names: tuple[str, ...], data: ReportData, slug: str, title: str
) -> Table:
    counts = test_image_cells(data, names)
    rows = [
        (name, *(spread(column[i]) if i < len(column) else None for column in found.values()), *counts[i])
        for i, name in enumerate(names)
    ]
    columns = ("class", *found, *(["test images"] if counts[0] else []))
    note = "Share of the test images of a class that is recognised after the last round; mean ± standard deviation."
    return Table(slug, title, columns, tuple(rows), note, seeds_of(data.runs), folded=True)


def test_image_cells(data: ReportData, names: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Test images of every class, where all runs have the same."""
    first, *others = [tuple(map(sum, run.result.metrics.confusion)) for run in data.runs]
    alike = len(first) == len(names) and all(other == first for other in others)
    return [(count,) for count in first] if alike else [()] * len(names)
