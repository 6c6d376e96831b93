"""What clients record, by hand; and the five studies, each read once."""

from dataclasses import fields
from functools import cache

from mooring.events import ClientRecord
from mooring.notes._plan import load_study, study_file
from mooring.record import ClientHistory, RunRecord

KNOWN = {field.name for field in fields(ClientRecord)}


@cache
def study_of(number):
    return load_study(study_file(number))


def run_of(name, factors, fused, rounds=(), epochs=(), result=None):
    """A run whose clients recorded these rounds and epochs."""
    numbers = sorted({row.client for row in (*rounds, *epochs)})
    clients = tuple(
        ClientHistory(
            number,
            f"client {number}",
            rounds=tuple(row for row in rounds if row.client == number),
            epochs=tuple(row for row in epochs if row.client == number),
        )
        for number in numbers
    )
    return RunRecord(name, clients, fused, result, factors=factors)


def records(**values):
    """name=[[of client 0, by round], [of client 1, by round]]; a name that no record has is that of a loss term."""
    first = next(iter(values.values()))
    return tuple(
        record(client, round_, {name: of[client][round_] for name, of in values.items()})
        for client, rounds in enumerate(first)
        for round_ in range(len(rounds))
    )


def record(client, round_, values):
    own = {name: value for name, value in values.items() if name in KNOWN}
    terms = {name: value for name, value in values.items() if name not in KNOWN}
    return ClientRecord(client, round_, terms=terms, **own)
