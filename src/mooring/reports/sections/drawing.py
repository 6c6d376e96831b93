"""What several sections draw alike: clients one by one, experiments side by side."""

from collections.abc import Callable
from dataclasses import replace

from mooring.events import ClientRecord
from mooring.record import ClientHistory
from mooring.reports.book import MOST_CLIENTS, Run
from mooring.reports.figure import Bars, Figure, Heat, Line, Series, Style, Values, lying
from mooring.reports.table import average, spread

MOST_SERIES = 3
MOST_NAMED = 6
Seeds = list[list[float]]  # a value for every seed, at each name of a figure


def drawn(run: Run) -> tuple[ClientHistory, ...]:
    """The clients of a figure: those that left a trace, as many as can be told apart."""
    return tuple(client for client in run.clients if client.rounds)[:MOST_CLIENTS]


def left_out(run: Run) -> str:
    """A word on the clients that are not drawn."""
    rest = [client.site for client in run.clients if client.rounds][MOST_CLIENTS:]
    if not rest:
        return ""
    named = ", ".join(rest) if len(rest) <= MOST_NAMED else f"{', '.join(rest[: MOST_NAMED - 1])} ... {rest[-1]}"
    return f" Not drawn: {named} ({len(rest)})."


def line(
    client: ClientHistory, value: Callable[[ClientRecord], float | None], look: Style = "solid", what: str = ""
) -> Line:
    """A client's value over rounds, in the client's colour; its lines are one family."""
    name = client.site
    return Line(
        f"{name}, {what}" if what else name,
        tuple(float(row.round) for row in client.rounds),
        tuple(value(row) for row in client.rounds),
        client.client,
        look,
        family=name,
    )


def known(values: Values) -> bool:
    return any(value is not None for value in values)


def side_by_side(blank: Bars, rows: dict[str, Seeds], x_title: str, colours: dict[str, int]) -> Figure:
    """`blank` with one row of values per experiment; long names stand below each other, as in bars."""
    if len(rows) > MOST_SERIES:
        values = tuple(tuple(average(seeds) for seeds in row) for row in rows.values())
        x, y, title = blank.names, tuple(rows), x_title
        if lying(blank.names):
            x, y, title, values = y, x, "", tuple(zip(*values, strict=True))
        return Heat(blank.slug, blank.title, blank.caption, title, "", x, y, values)
    return replace(blank, series=tuple(series(label, row, colours.get(label, 0)) for label, row in rows.items()))


def series(label: str, row: Seeds, colour: int) -> Series:
    """Means with one standard deviation, and every seed as a dot."""
    ends = [spread(seeds) for seeds in row]
    means, errors = (tuple(getattr(end, part, None) for end in ends) for part in ("mean", "std"))
    return Series(label, means, errors, colour, tuple(map(tuple, row)))
