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
        empty = [group for group, found in samples.items() if not found]
        if empty:
            return missing(*empty)
        numbers = ", ".join(f"{told(found.values())} for {group}" for group, found in samples.items())
        measured = f"{self.measure}: {numbers}"
        pairs = {(low, high): Below(low, high, self.measure, self.noise) for high, low in pairwise(self.highest)}
        verdicts = {pair: check(evidence) for pair, check in pairs.items()}
        reason = "; ".join(f"{low} against {high}: {verdict.reason}" for (low, high), verdict in verdicts.items())
        answers = {verdict.verdict for verdict in verdicts.values()}
        worst = next(answer for answer in (REFUTED, UNSEEN, CONFIRMED) if answer in answers)
        return Verdict(worst, measured, reason)
