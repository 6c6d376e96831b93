"""What became of clients after something happened to them."""

from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from mooring.study.evidence import Run


@dataclass(frozen=True)
class Since:
    """field[last] - field[r], r the last round in which `trigger` was not yet above `above`; mean over the clients that
    were below it at first and rose above it later."""

    kind: ClassVar[str] = "since"
    field: str
    trigger: str = "lambda_raw"
    above: float = 1000.0

    def value(self, run: Run) -> float | None:
        changes = list(self.by_client(run).values())
        return fmean(changes) if changes else None

    def by_client(self, run: Run) -> dict[int, float]:
        fields, triggers = run.trace(self.field), run.trace(self.trigger)
        changes = {}
        for client, rounds in fields.items():
            passed = [r for r, value in triggers.get(client, {}).items() if value > self.above]
            before = [r for r in rounds if passed and r < min(passed)]
            if before:
                changes[client] = rounds[max(rounds)] - rounds[max(before)]
        return changes

    def series(self, run: Run) -> dict[int, float]:
        return {}

    def __str__(self) -> str:
        return f"change of {self.field} since {self.trigger} passed {self.above:g} (mean over those clients)"
