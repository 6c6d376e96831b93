"""The accuracy of the fused predictor."""

from dataclasses import dataclass
from typing import ClassVar

from mooring.study.evidence import Run
from mooring.study.series import AT, At


@dataclass(frozen=True)
class Fused:
    """Accuracy on the official test set, over the rounds that were fused; or in one of them."""

    kind: ClassVar[str] = "fused"
    at: At = "last"
    round: int | None = None

    def value(self, run: Run) -> float | None:
        series = self.series(run)
        if self.round is not None:
            return series.get(self.round)
        return AT[self.at](list(series.values())) if series else None

    def series(self, run: Run) -> dict[int, float]:
        return dict(sorted(run.fused.items()))

    def by_client(self, run: Run) -> dict[int, float]:
        return {}

    def __str__(self) -> str:
        if self.round is not None:
            return f"fused accuracy after round {self.round}"
        return {"last": "fused accuracy", "fall": "share of the peak fused accuracy lost afterwards"}.get(
            self.at, f"fused accuracy ({self.at})"
        )
