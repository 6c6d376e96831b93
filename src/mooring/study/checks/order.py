"""Several groups stand in an order."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from mooring.study.checks.base import CONFIRMED, REFUTED, UNSEEN, Verdict, missing
from mooring.study.checks.below import Below
from mooring.study.evidence import Evidence
from mooring.study.measures import Fused, Measure
from mooring.study.samples import sample, told


@dataclass(frozen=True)
class Order:
    """`highest` names the groups from the highest down; each neighbour must be below the one before it."""

    kind: ClassVar[str] = "order"
    highest: tuple[str, ...]
    measure: Measure = Fused()
    noise: float = 0.02

    def groups(self) -> tuple[str, ...]:
        return self.highest

    def __call__(self, evidence: Evidence) -> Verdict:
        samples = {group: sample(evidence, group, self.measure) for group in self.highest}
        empty = [group for group, numbers in samples.items() if not numbers]
        if empty:
            return missing(*empty)
        measured = "; ".join(f"{group}: {told(numbers.values())}" for group, numbers in samples.items())
        pairs = [Below(low, high, self.measure, self.noise)(evidence) for high, low in pairwise(self.highest)]
        reason = "; ".join(pair.reason for pair in pairs)
        answers = {pair.verdict for pair in pairs}
        worst = next(answer for answer in (REFUTED, UNSEEN, CONFIRMED) if answer in answers)
        return Verdict(worst, measured, reason)
