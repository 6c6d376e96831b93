"""One row per client: the note's clients beside ours, which hold other images."""

from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar

from mooring.study.evidence import Evidence
from mooring.study.measures import Client
from mooring.study.samples import short
from mooring.study.tables.base import Cell, Printed


@dataclass(frozen=True)
class ByClient:
    """Clients in the order of their numbers, of the run with the lowest seed."""

    kind: ClassVar[str] = "by-client"
    title: str
    of: str
    measured: dict[str, str]  # heading -> field, in the last round
    note: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]  # of the note, one per client

    def groups(self) -> tuple[str, ...]:
        return (self.of,)

    def __call__(self, evidence: Evidence) -> Printed:
        runs = sorted(evidence.runs(self.of), key=lambda run: run.seed)[:1]
        columns = [Client(field).by_client(run) for run in runs for field in self.measured.values()]
        clients = sorted({client for column in columns for client in column})
        ours = [[str(k), *(short(column[k]) if k in column else "-" for column in columns)] for k in clients]
        blank_note, blank_ours = ["-"] * len(self.note), ["-"] * (1 + len(self.measured))
        rows = [
            (*map(str, note or blank_note), *(measured or blank_ours))
            for note, measured in zip_longest(self.rows, ours)
        ]
        heads = [*(f"{name} (note)" for name in self.note), "client (measured)"]
        heads += [f"{name} (measured)" for name in self.measured]
        seed = f", seed {runs[0].seed}" if runs else ""
        return Printed(f"{self.title}{seed}", tuple(heads), tuple(rows))
