"""How much of the growth of a product is the growth of one factor."""

from dataclasses import dataclass
from math import log
from statistics import fmean
from typing import ClassVar

from mooring.study.evidence import Run
from mooring.study.measures.client import Client


@dataclass(frozen=True)
class Share:
    """log(part_last / part_first) / log(whole_last / whole_first), mean over clients whose whole more than doubled."""

    kind: ClassVar[str] = "share"
    part: str
    whole: str

    def value(self, run: Run) -> float | None:
        shares = list(self.by_client(run).values())
        return fmean(shares) if shares else None

    def by_client(self, run: Run) -> dict[int, float]:
        part, whole = (Client(name, "growth").by_client(run) for name in (self.part, self.whole))
        return {k: log(part[k]) / log(grown) for k, grown in whole.items() if grown > 2 and part.get(k, 0) > 0}

    def series(self, run: Run) -> dict[int, float]:
        return {}

    def __str__(self) -> str:
        return f"share of {self.part} in the growth of {self.whole}"
