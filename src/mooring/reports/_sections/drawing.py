"""What several sections draw alike: clients one by one, experiments side by side."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import TypeVar

from mooring.events import ClientRecord
from mooring.record import ClientHistory
from mooring.reports._accuracies import accuracy_interval
from mooring.reports._figure import INK, AxisScale, Curves, Dots, Figure, Heat, Line, PlotValues, Series, Style, lying
from mooring.reports._report_data import MOST_CLIENTS, ReportedRun
from mooring.reports._table import average
from mooring.wording import round_number

T = TypeVar("T")
MOST_SERIES = 3
QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)
OfClient = Callable[[ClientHistory, ClientRecord], float | None]  # a value of a client in a round
SeedValues = list[list[float]]  # a value for every seed, at each name of a figure


def clients_drawn(run: ReportedRun) -> tuple[ClientHistory, ...]:
    """The clients of a figure: those with recorded rounds."""
    return tuple(client for client in run.clients if client.rounds)


def crowded(run: ReportedRun) -> bool:
    """Are there too many clients to distinguish? Then quantiles are drawn in their place."""
    return len(clients_drawn(run)) > MOST_CLIENTS


def quantile_caption(run: ReportedRun) -> str:
    """A sentence on the quantiles that replace many clients; empty for few clients."""
    if not crowded(run):
        return ""
    many = len(clients_drawn(run))
    return f" Of {many} clients: the median, a band that holds 80 % of them, and dotted the lowest and the highest."


def client_lines(run: ReportedRun, value: OfClient, look: Style = "solid", what: str = "") -> list[Line]:
    """A value of every client over rounds, each in its client's colour; of many clients, the quantiles.

    Lines without a value are left out.
    """
    if crowded(run):
        return quantile_lines(clients_drawn(run), value, look, what)
    lines = [client_line(client, value, look, what) for client in clients_drawn(run)]
    return [shown for shown in lines if any_known(shown.y)]


def client_line(client: ClientHistory, value: OfClient, look: Style = "solid", what: str = "") -> Line:
    """A client's value over rounds, in the client's colour; its lines are one family."""
    name = client.site
    return Line(
        f"{name}, {what}" if what else name,
        tuple(float(round_number(row.round)) for row in client.rounds),
        tuple(value(client, row) for row in client.rounds),
        client.client,
        look,
        family=name,
    )


def named_line(name: str, x: tuple[float, ...], y: tuple[float, ...], look: Style = "solid") -> Line:
    """A line in ink with its name at its end: it belongs to no client and needs no legend."""
    return Line(name, x, y, INK, look, remarks=((x[-1], y[-1], name),))


def quantile_lines(clients: Sequence[ClientHistory], value: OfClient, look: Style, what: str) -> list[Line]:
    """The median within 80 % of all, and the ends; of a second value the median alone."""
    known = ((row.round, value(client, row)) for client in clients for row in client.rounds)
    at = by_round((round_, number) for round_, number in known if number is None or isfinite(number))
    if not at:
        return []
    rounds = tuple(map(float, at))
    lowest, low, middle, high, highest = (tuple(quantile(ys, share) for ys in at.values()) for share in QUANTILES)
    if what:
        return [Line(f"{what}, median", rounds, middle, 1, look)]
    return [
        Line("median client", rounds, middle, 0, look, (low, high)),
        *(Line(name, rounds, end, 0, "dotted") for name, end in (("lowest", lowest), ("highest", highest))),
    ]


def by_round(values: Iterable[tuple[int, T | None]]) -> dict[int, list[T]]:
    """round, counted from 1 -> its known values, in the order of rounds"""
    found: dict[int, list[T]] = {}
    for index, value in values:
        if value is not None:
            found.setdefault(round_number(index), []).append(value)
    return dict(sorted(found.items()))


def run_curves(
    run: ReportedRun,
    slug: str,
    title: str,
    caption: str,
    y_title: str,
    lines: Iterable[Line],
    scale: AxisScale = "linear",
) -> Curves:
    """Lines over the rounds of one run."""
    caption = f"{caption}{quantile_caption(run)}"
    return Curves(slug, title, caption, "round", y_title, tuple(lines), scale, run.title, (run.seed,))


def quantile(values: Sequence[float], share: float) -> float:
    """Between the two nearest, as the median is."""
    ordered, place = sorted(values), share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def any_known(values: PlotValues) -> bool:
    return any(value is not None for value in values)


def side_by_side(blank: Dots, rows: dict[str, SeedValues], x_title: str, colours: dict[str, int]) -> Figure:
    """`blank` with one row of values per experiment; of many experiments, a matrix."""
    if len(rows) > MOST_SERIES:
        values = tuple(tuple(average(seeds) for seeds in row) for row in rows.values())
        x, y, title = blank.names, tuple(rows), x_title
        if lying(blank.names):
            x, y, title, values = y, x, "", tuple(zip(*values, strict=True))
        return Heat(blank.slug, blank.title, blank.caption, title, "", x, y, values)
    caption = blank.caption + over_seeds(seeds for row in rows.values() for seeds in row)
    every = tuple(series(label, row, colours.get(label, 0)) for label, row in rows.items())
    return replace(blank, series=every, caption=caption)


def over_seeds(values: Iterable[Collection[float]]) -> str:
    """A sentence on intervals and rings; empty if every mean has one seed."""
    several = any(len(seeds) > 1 for seeds in values)
    return " Lines are 95 % intervals over seeds (Student's t), rings are the seeds." if several else ""


def series(label: str, row: SeedValues, colour: int, images: int | None = None) -> Series:
    """Means with the intervals of the tables, and every seed; `images`: test images behind a single value."""
    ends = [accuracy_interval(seeds, images) for seeds in row]
    intervals = tuple(None if end is None else (end.low, end.high) for end in ends)
    return Series(label, tuple(map(average, row)), intervals, colour, tuple(map(tuple, row)))
