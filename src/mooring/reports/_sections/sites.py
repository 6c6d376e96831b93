"""The sites of a run on a folder: fused, local-only and left out; and the heads that the same sums give."""

from collections.abc import Iterator

from mooring.intervals import Rate
from mooring.record import RunJudgement, SiteAccuracy
from mooring.reports._figure import Dots, Series
from mooring.reports._report_data import ReportData
from mooring.reports._section import Section
from mooring.reports._table import Cell, Interval, Table

BETTER = 0.01  # of expected accuracy, from which a head is worth a sentence
LEAD = (
    "On the test images of each site: the fused model, the same with the site's own class frequencies, a model of this "
    "site's images alone, and the model of all other sites. The last is what a site that did not take part may expect."
)


def sites(data: ReportData) -> Section:
    judged = [run.judgement for run in data.runs if run.judgement is not None]
    if len(judged) != 1 or not (judged[0].sites or judged[0].heads):
        return Section("sites", "Sites", "")
    found = judged[0]
    figures = (site_dots(found.sites),) if found.sites else ()
    tables = (*((site_table(found.sites),) if found.sites else ()), *head_table(found))
    return Section("sites", "Sites", " ".join((LEAD, *changes(found))), figures, tables)


def changes(found: RunJudgement) -> Iterator[str]:
    """What would change the answer: models of other sites that are clearly better or worse, and another head.

    Clearly: the 95 % intervals of Wilson do not overlap.
    """
    counted = 0
    for row in found.sites:
        if row.alone is not None and apart(row.alone, row.fused, row):
            counted += 1
            yield f"At {row.site} its own images alone are better: {of(row.alone, row)}, fused {of(row.fused, row)}."
        if row.others is not None and apart(row.fused, row.others, row):
            counted += 1
            yield f"{row.site} is needed: without it {of(row.others, row)} there, fused {of(row.fused, row)}."
    if found.sites and not counted:
        yield "No site alone, and none left out, changes the accuracy at a site beyond its interval."
    if len(found.heads) > 1 and found.heads[0].expected - found.heads[-1].expected > BETTER:
        best, last = found.heads[0], found.heads[-1]
        yield f"Of the heads, {best.head} is expected best ({best.expected:.3f}, {last.head} {last.expected:.3f})."


def apart(more: int, fewer: int, row: SiteAccuracy) -> bool:
    one, other = Rate(more, row.images).interval, Rate(fewer, row.images).interval
    return one is not None and other is not None and one[0] > other[1]


def of(right: int, row: SiteAccuracy) -> str:
    return f"{right / row.images:.3f}"


def site_dots(rows: tuple[SiteAccuracy, ...]) -> Dots:
    series = (
        of_sites("fused", rows, [row.fused for row in rows], 0),
        of_sites("local-only", rows, [row.alone for row in rows], 1),
        of_sites("site left out", rows, [row.others for row in rows], 2),
        *([of_sites("personalised", rows, [row.personal for row in rows], 3)] if is_personal(rows) else []),
    )
    caption = "Share of the site's own test images that is right, with 95 % intervals by Wilson."
    return Dots("by-site", "Accuracy by site", caption, "accuracy", tuple(row.site for row in rows), series)


def of_sites(name: str, rows: tuple[SiteAccuracy, ...], right: list[int | None], colour: int) -> Series:
    known = list(zip(rows, right, strict=True))
    intervals = tuple(None if count is None else Rate(count, row.images).interval for row, count in known)
    return Series(name, tuple(share(count, row) for row, count in known), intervals, colour)


def share(right: int | None, row: SiteAccuracy) -> float | None:
    return None if right is None else right / row.images


def site_table(rows: tuple[SiteAccuracy, ...]) -> Table:
    columns = ("site", "test images", "fused", "95 % interval", "local-only", "site left out")
    note = "Local-only: a model of this site's images alone. Site left out: the model of all other sites."
    if not is_personal(rows):
        return Table("by-site", "Accuracy by site", columns, tuple(map(site_cells, rows)), note)
    cells = tuple((*site_cells(row), share(row.personal, row)) for row in rows)
    note += " Personalised: the fused model with the site's own class frequencies (`mooring personalise`)."
    return Table("by-site", "Accuracy by site", (*columns, "personalised"), cells, note)


def is_personal(rows: tuple[SiteAccuracy, ...]) -> bool:
    return any(row.personal is not None for row in rows)


def site_cells(row: SiteAccuracy) -> tuple[Cell, ...]:
    low, high = Rate(row.fused, row.images).interval or (0.0, 1.0)
    return (
        row.site,
        row.images,
        share(row.fused, row),
        Interval(low, high),
        share(row.alone, row),
        share(row.others, row),
    )


def head_table(found: RunJudgement) -> tuple[Table, ...]:
    rows: tuple[tuple[Cell, ...], ...] = tuple((head.head, head.expected, head.accuracy) for head in found.heads)
    note = "Heads are compared by the accuracy that the sums foretell; the test accuracy is for information."
    columns = ("head", "expected accuracy", "test accuracy")
    return (Table("heads", "Heads from the same sums", columns, rows, note),) if rows else ()
