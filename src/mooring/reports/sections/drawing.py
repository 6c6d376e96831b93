"""What several sections draw alike: clients one by one, experiments side by side."""

from collections.abc import Callable

from mooring.events import ClientRecord
from mooring.record import ClientHistory, Spread
from mooring.reports.book import MOST_CLIENTS, Run
from mooring.reports.figure import Bars, Figure, Heat, Line, Series, Style, Values, lying

MOST_SERIES = 3


def drawn(run: Run) -> tuple[ClientHistory, ...]:
    """The clients of a figure: those that left a trace, as many as can be told apart."""
    return tuple(client for client in run.clients if client.rounds)[:MOST_CLIENTS]


def left_out(run: Run) -> str:
    """A word on the clients that are not drawn."""
    more = sum(1 for client in run.clients if client.rounds) - len(drawn(run))
    return f" {more} more clients are not drawn." if more > 0 else ""


def line(
    client: ClientHistory, value: Callable[[ClientRecord], float | None], look: Style = "solid", what: str = ""
) -> Line:
    """A client's value over rounds, in the client's colour; its lines are one family."""
    name = f"client {client.client}"
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


def side_by_side(blank: Bars, rows: dict[str, list[Spread | None]], x_title: str) -> Figure:
    """`blank` with one row of values per experiment; long names stand below each other, as in bars."""
    if len(rows) > MOST_SERIES:
        values = tuple(tuple(None if cell is None else cell.mean for cell in row) for row in rows.values())
        x, y, title = blank.names, tuple(rows), x_title
        if lying(blank.names):
            x, y, title, values = y, x, "", tuple(zip(*values, strict=True))
        return Heat(blank.slug, blank.title, blank.caption, title, "", x, y, values)
    series = tuple(
        Series(
            label,
            tuple(None if cell is None else cell.mean for cell in row),
            tuple(None if cell is None else cell.std for cell in row),
        )
        for label, row in rows.items()
    )
    return Bars(blank.slug, blank.title, blank.caption, blank.y_title, blank.names, series)
