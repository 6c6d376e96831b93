"""How good is the fused predictor, over rounds and at the end?"""

from mooring.record import Spread
from mooring.reports.book import Book, SeedGroup
from mooring.reports.figure import Bars, Curves, Figure, Line, Series, style
from mooring.reports.section import Section
from mooring.reports.sections.comparison import against_baseline, pivots
from mooring.reports.table import Table, average, spread

METRICS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced",
    "macro_f1": "macro F1",
    "calibration_error": "ECE",
}


def accuracy(book: Book) -> Section:
    if not book.runs:
        return Section("accuracy", "Accuracy", "")
    figures: list[Figure] = []
    if any(len(snapshots(group)) > 1 for group in book.groups):
        figures.append(over_rounds(book))
    if len(book.lines) > 1:
        figures.append(at_the_end(book))
    by_factor = pivots(book)
    figures += [figure for figure, _ in by_factor]
    lead = "Accuracy of the fused predictor on the official test set; the final round counts, peaks do not."
    tables = (results(book), *(table for _, table in by_factor), *against_baseline(book), rounds(book))
    return Section("accuracy", "Accuracy", lead, tuple(figures), tables)


def over_rounds(book: Book) -> Curves:
    """Experiments that kept several rounds; one that kept the last alone has no course."""
    lines = [course(group, i) for i, group in enumerate(book.groups) if len(snapshots(group)) > 1]
    many = max(len(group.runs) for group in book.groups) > 1
    band = " The band is one standard deviation over seeds." if many else ""
    if len(book.groups) == 1 and len((beside := alone(book.groups[0])).x) > 1:
        lines.append(beside)
        band += " The dashed line is the mean of the clients alone: fusing should lift the solid line above it."
    caption = f"What a server would get if it fused after each round.{band}"
    return Curves("accuracy", "Accuracy over rounds", caption, "round", "test accuracy", tuple(lines))


def snapshots(group: SeedGroup) -> dict[int, list[float]]:
    """round -> the accuracy of every seed that kept it"""
    found: dict[int, list[float]] = {}
    for run in group.runs:
        for row in run.result.rounds:
            found.setdefault(row.round, []).append(row.accuracy)
    return dict(sorted(found.items()))


def course(group: SeedGroup, index: int) -> Line:
    at = snapshots(group)
    middle = [spread(values) or Spread(0.0) for values in at.values()]
    low = tuple(max(value.mean - (value.std or 0), 0.0) for value in middle)
    high = tuple(min(value.mean + (value.std or 0), 1.0) for value in middle)
    means = tuple(value.mean for value in middle)
    band = (low, high) if len(group.runs) > 1 else None
    return Line(group.label, tuple(map(float, at)), means, index, style(index), band)


def alone(group: SeedGroup) -> Line:
    """Mean accuracy of the clients' own models, over clients and seeds."""
    at: dict[int, list[float | None]] = {}
    for run in group.runs:
        for row in run.result.rounds:
            at.setdefault(row.round, []).extend(client.accuracy for client in row.clients)
    means = {float(round_): average(at[round_]) for round_ in sorted(at)}
    known = {round_: mean for round_, mean in means.items() if mean is not None}  # evaluate.clients says which
    return Line("clients alone", tuple(known), tuple(known.values()), 0, "dashed")


def at_the_end(book: Book) -> Bars:
    ends = [spread(group.values("accuracy")) or Spread(0.0) for group in book.lines]
    series = Series("accuracy", tuple(end.mean for end in ends), tuple(end.std for end in ends))
    caption = "Final accuracy; whiskers are one standard deviation over seeds. Where they overlap, no order is settled."
    names = tuple(group.label for group in book.lines)
    return Bars("final-accuracy", "Accuracy after the last round", caption, "test accuracy", names, (series,))


def results(book: Book) -> Table:
    """One line per group, with n, seeds and fingerprints."""
    rows = [
        (
            group.label,
            *(spread(group.values(name)) for name in METRICS),
            spread(run.alone for run in group.runs),
            len(group.runs),
            group.seeds,
            group.fingerprints,
        )
        for group in book.lines
    ]
    columns = ("experiment", *METRICS.values(), "clients alone", "n", "seeds", "fingerprints")
    fewer = {told: None for run in book.runs if (told := run.result.alone_told)}
    note = "Test set, last round; mean ± standard deviation over n."
    note += "".join(f" Clients alone: on {images}." for images in fewer)
    return Table("results", "Results", columns, tuple(rows), note)


def rounds(book: Book) -> Table:
    rows = [
        (group.label, at, spread(values), len(values))
        for group in book.groups
        for at, values in snapshots(group).items()
    ]
    return Table("accuracy-rounds", "Accuracy by round", ("experiment", "round", "accuracy", "n"), tuple(rows))
