"""What happens once the fused accuracy has been at its best."""

from dataclasses import dataclass
from typing import ClassVar

from mooring.study.evidence import Run
from mooring.study.measures.base import Measure


@dataclass(frozen=True)
class FromPeak:
    """The rounds of another measure from the one with the highest fused accuracy on."""

    kind: ClassVar[str] = "from-peak"
    of: Measure

    def value(self, run: Run) -> float | None:
        return self.of.value(run)

    def series(self, run: Run) -> dict[int, float]:
        peak = max(run.fused, key=lambda round_: run.fused[round_], default=0)
        return {round_: number for round_, number in self.of.series(run).items() if round_ >= peak}

    def by_client(self, run: Run) -> dict[int, float]:
        return self.of.by_client(run)

    def __str__(self) -> str:
        return f"{self.of} from the peak on"
