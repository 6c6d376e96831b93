"""The client at one end of a scale."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from mooring.study.evidence import Run
from mooring.study.measures.client import Client
from mooring.study.series import At


@dataclass(frozen=True)
class Extreme:
    """`field` of the client whose `by` is lowest or highest of all."""

    kind: ClassVar[str] = "extreme"
    field: str
    by: str = "normalised_entropy"
    which: Literal["lowest", "highest"] = "lowest"
    at: At = "last"

    def value(self, run: Run) -> float | None:
        by, fields = Client(self.by, "first").by_client(run), self.by_client(run)
        common = by.keys() & fields.keys()
        if not common:
            return None
        sign = 1 if self.which == "lowest" else -1
        return fields[min(common, key=lambda client: (sign * by[client], client))]

    def by_client(self, run: Run) -> dict[int, float]:
        return Client(self.field, self.at).by_client(run)

    def series(self, run: Run) -> dict[int, float]:
        return {}

    def __str__(self) -> str:
        return f"{self.field} ({self.at}) of the client with the {self.which} {self.by}"
