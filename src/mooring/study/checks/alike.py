"""Two groups are as good as the same."""

from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from mooring.study.checks.base import CONFIRMED, REFUTED, UNSEEN, Verdict, missing
from mooring.study.evidence import Evidence
from mooring.study.measures import Fused, Measure
from mooring.study.samples import differences, sample, told


@dataclass(frozen=True)
class Alike:
    """Paired by seed, d = one - other. Confirmed: |d| <= margin in every seed. Not confirmed: |mean d| > margin and d
    of one sign in every seed. Otherwise the seeds scatter wider than the margin."""

    kind: ClassVar[str] = "alike"
    one: str
    other: str
    measure: Measure = Fused()
    margin: float = 0.03

    def groups(self) -> tuple[str, ...]:
        return self.one, self.other

    def __call__(self, evidence: Evidence) -> Verdict:
        first, second = (sample(evidence, group, self.measure) for group in self.groups())
        gaps = differences(first, second)
        if not gaps:
            return missing(*self.groups())
        measured = f"{self.measure}: {told(first.values())} and {told(second.values())}; difference {told(gaps)}"
        close = sum(abs(gap) <= self.margin for gap in gaps)
        reason = f"within {self.margin:g} of each other in {close} of {len(gaps)} seeds"
        if close == len(gaps):
            return Verdict(CONFIRMED, measured, reason)
        if abs(fmean(gaps)) > self.margin and abs(sum(gap > 0 for gap in gaps) * 2 - len(gaps)) == len(gaps):
            return Verdict(REFUTED, measured, f"{reason}, and always the same one is higher")
        return Verdict(UNSEEN, measured, f"{reason}; the seeds scatter wider than that")
