"""Which classes are recognised, and what are the others taken for?"""

from mooring.reports.book import Book, Run
from mooring.reports.figure import Bars, Figure, Heat, Series
from mooring.reports.names import class_names
from mooring.reports.section import Section
from mooring.reports.table import Table, spread

MOST_BARS = 120  # beyond, a table says it better


def classes(book: Book) -> Section:
    if not book.runs:
        return Section("classes", "Classes", "")
    names = max((class_names(run) for run in book.runs), key=len)
    figures: list[Figure] = []
    if len(names) * len(book.groups) <= MOST_BARS:
        figures.append(bars(book, names))
    figures += [confusion(run) for run in book.shown]
    lead = "An accuracy of one half can be all classes half right, or half the classes never named."
    return Section("classes", "Classes", lead, tuple(figures), (table(book, names),))


def bars(book: Book, names: tuple[str, ...]) -> Bars:
    series = []
    for group in book.groups:
        spreads = [spread(column) for column in by_class(list(group.runs))]
        means = tuple(None if found is None else found.mean for found in spreads)
        series.append(Series(group.label, means, tuple(None if found is None else found.std for found in spreads)))
    caption = "Share of each class's test images that is recognised. A missing bar is a class that is never named."
    return Bars("per-class", "Accuracy by class", caption, "accuracy", names, tuple(series))


def by_class(runs: list[Run]) -> list[tuple[float | None, ...]]:
    return list(zip(*(run.result["per_class_accuracy"] for run in runs), strict=True))


def confusion(run: Run) -> Heat:
    counts = run.result["confusion"]
    rows = tuple(tuple(count / sum(row) if sum(row) else None for count in row) for row in counts)
    names = class_names(run)
    caption = (
        "Each row adds up to 1: of the images of a class, the share that is taken for each class. "
        "A full column is a class that swallows others."
    )
    return Heat("confusion", "Confusion", caption, "predicted class", "true class", names, names, rows, run.title)


def table(book: Book, names: tuple[str, ...]) -> Table:
    columns = ("class", *(group.label for group in book.groups))
    per_group = [[spread(column) for column in by_class(list(group.runs))] for group in book.groups]
    rows = [(name, *(column[i] if i < len(column) else None for column in per_group)) for i, name in enumerate(names)]
    return Table("per-class", "Accuracy by class", columns, tuple(rows))
