"""A measure lies between two bounds."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from mooring.study.checks.base import CONFIRMED, REFUTED, UNSEEN, Verdict, missing
from mooring.study.evidence import Evidence
from mooring.study.measures import Measure
from mooring.study.samples import sample, short, told


@dataclass(frozen=True)
class Within:
    """low <= measure <= high. Confirmed in every seed, not confirmed in none; otherwise it depends on the seed."""

    kind: ClassVar[str] = "within"
    of: str
    measure: Measure
    low: float | None = None
    high: float | None = None

    def groups(self) -> tuple[str, ...]:
        return (self.of,)

    def __call__(self, evidence: Evidence) -> Verdict:
        numbers = list(sample(evidence, self.of, self.measure).values())
        if not numbers:
            return missing(self.of)
        low, high = -inf if self.low is None else self.low, inf if self.high is None else self.high
        inside = sum(low <= number <= high for number in numbers)
        measured = f"{self.measure}: {told(numbers)}, from {short(min(numbers))} to {short(max(numbers))}"
        reason = f"{self.rule()} in {inside} of {len(numbers)} seeds"
        verdict = CONFIRMED if inside == len(numbers) else REFUTED if not inside else UNSEEN
        return Verdict(verdict, measured, reason if verdict != UNSEEN else f"{reason}: it depends on the seed")

    def rule(self) -> str:
        bounds = {"at least": self.low, "at most": self.high}
        return " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
