"""Something that clients record in every round."""

from dataclasses import dataclass
from typing import ClassVar

from mooring.study.evidence import Run
from mooring.study.series import AT, OVER, WORDS, At, Over


@dataclass(frozen=True)
class Client:
    """over_k at_r field[k, r]; of one client if `client` names it."""

    kind: ClassVar[str] = "client"
    field: str
    at: At = "last"
    over: Over = "mean"
    client: int | None = None

    def value(self, run: Run) -> float | None:
        numbers = list(self.by_client(run).values())
        return OVER[self.over](numbers) if numbers else None

    def by_client(self, run: Run) -> dict[int, float]:
        return {client: AT[self.at](list(rounds.values())) for client, rounds in self.trace(run).items()}

    def series(self, run: Run) -> dict[int, float]:
        by_round: dict[int, list[float]] = {}
        for rounds in self.trace(run).values():
            for round_, number in rounds.items():
                by_round.setdefault(round_, []).append(number)
        return {round_: OVER[self.over](by_round[round_]) for round_ in sorted(by_round)}

    def trace(self, run: Run) -> dict[int, dict[int, float]]:
        trace = run.trace(self.field)
        return {k: dict(sorted(v.items())) for k, v in trace.items() if self.client in (None, k)}

    def __str__(self) -> str:
        who = f"{self.over} over clients" if self.client is None else f"client {self.client}"
        return f"{self.field} ({WORDS[self.at]}, {who})"
