"""A measure in decades, for what is compared by factors."""

from dataclasses import dataclass
from math import log10
from typing import ClassVar

from mooring.study.evidence import Run
from mooring.study.measures.base import Measure


@dataclass(frozen=True)
class Log10:
    """log10 of another measure, where that is above zero; a difference of .3 is a factor of two."""

    kind: ClassVar[str] = "log10"
    of: Measure

    def value(self, run: Run) -> float | None:
        number = self.of.value(run)
        return log10(number) if number is not None and number > 0 else None

    def series(self, run: Run) -> dict[int, float]:
        return {round_: log10(number) for round_, number in self.of.series(run).items() if number > 0}

    def by_client(self, run: Run) -> dict[int, float]:
        return {client: log10(number) for client, number in self.of.by_client(run).items() if number > 0}

    def __str__(self) -> str:
        return f"log10 of {self.of}"
