"""Clients one by one: who is drawn, and in which colour."""

from collections.abc import Callable

from mooring.doctor.history import Moment, Patient
from mooring.reports.book import MOST_CLIENTS, Run
from mooring.reports.figure import Line, Style, Values


def drawn(run: Run) -> tuple[Patient, ...]:
    """The clients of a figure: those that left a trace, as many as can be told apart."""
    return tuple(patient for patient in run.history.patients if patient.moments)[:MOST_CLIENTS]


def left_out(run: Run) -> str:
    """A word on the clients that are not drawn."""
    more = sum(1 for patient in run.history.patients if patient.moments) - len(drawn(run))
    return f" {more} more clients are not drawn." if more > 0 else ""


def line(patient: Patient, value: Callable[[Moment], float | None], look: Style = "solid", what: str = "") -> Line:
    """A client's value over rounds, in the client's colour; its lines are one family."""
    name = f"client {patient.client}"
    return Line(
        f"{name}, {what}" if what else name,
        tuple(float(moment.round) for moment in patient.moments),
        tuple(value(moment) for moment in patient.moments),
        patient.client,
        look,
        family=name,
    )


def known(values: Values) -> bool:
    return any(value is not None for value in values)
