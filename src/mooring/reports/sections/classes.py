"""Which classes are recognised, and what are the others taken for?"""

from dataclasses import replace

from mooring.intervals import wilson
from mooring.record import Cell
from mooring.reports.book import Book, Run
from mooring.reports.figure import Bars, Heat
from mooring.reports.section import Section
from mooring.reports.sections.drawing import Seeds, side_by_side
from mooring.reports.table import Table, spread


def classes(book: Book) -> Section:
    book = replace(book, members=tuple(run for run in book.runs if run.result.metrics.confusion))
    if not book.runs:
        return Section("classes", "Classes", "")
    names = max((run.classes for run in book.runs), key=len)
    found = {group.label: [known(column) for column in by_class(list(group.runs))] for group in book.groups}
    caption = (
        "Share of each class's test images that is recognised; whiskers are one standard deviation over seeds, dots "
        "the seeds. What is empty is never named."
    )
    blank = Bars("per-class", "Accuracy by class", caption, "accuracy", names, ())
    colours = {label: book.colour(label) for label in found}
    figures = (side_by_side(blank, found, "class", colours), *(confusion(run) for run in book.shown))
    lead = f"An accuracy of one half can be all classes half right, or half the classes never named.{book.not_shown}"
    return Section("classes", "Classes", lead, figures, (*two_classes(book), table(found, names)))


def known(column: tuple[float | None, ...]) -> list[float]:
    return [value for value in column if value is not None]


def by_class(runs: list[Run]) -> list[tuple[float | None, ...]]:
    return list(zip(*(run.result.metrics.per_class_accuracy for run in runs), strict=True))


def confusion(run: Run) -> Heat:
    counts = run.result.metrics.confusion
    rows = tuple(tuple(count / sum(row) if sum(row) else None for count in row) for row in counts)
    names = run.classes
    caption = (
        "Each row adds up to 1: of the images of a class, the share that is taken for each class. "
        "A full column is a class that swallows others."
    )
    return Heat("confusion", "Confusion", caption, "predicted class", "true class", names, names, rows, run.title)


def two_classes(book: Book) -> tuple[Table, ...]:
    """As medicine counts, where there are two classes: the second is the one that is looked for."""
    rows = tuple(
        (run.title, *counted(confusion[1][1], sum(confusion[1])), *counted(confusion[0][0], sum(confusion[0])))
        for run in book.runs
        if len(confusion := run.result.metrics.confusion) == 2
    )
    if not rows:
        return ()
    looked_for = next(run.classes[1] for run in book.runs if len(run.result.metrics.confusion) == 2)
    columns = (
        *("run", "sensitivity", "of", "sensitivity 95 % low", "sensitivity 95 % high"),
        *("specificity", "of ", "specificity 95 % low", "specificity 95 % high"),
    )
    note = f"Of {looked_for!r}: found where it is, and not claimed where it is not; intervals are Wilson's."
    return (Table("two-classes", "Sensitivity and specificity", columns, rows, note),)


def counted(right: int, total: int) -> tuple[Cell, ...]:
    return (right / total if total else None, total, *wilson(right, total))


def table(found: dict[str, Seeds], names: tuple[str, ...]) -> Table:
    rows = [
        (name, *(spread(column[i]) if i < len(column) else None for column in found.values()))
        for i, name in enumerate(names)
    ]
    return Table("per-class", "Accuracy by class", ("class", *found), tuple(rows), folded=True)
