"""One group is below another."""

from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from mooring.study.checks.base import CONFIRMED, REFUTED, UNSEEN, Verdict, missing
from mooring.study.evidence import Evidence
from mooring.study.measures import Fused, Measure
from mooring.study.samples import differences, sample, short, told


@dataclass(frozen=True)
class Below:
    """Paired by seed, d = lower - higher. Confirmed: mean d < -noise and d < 0 in every seed. Not confirmed: mean
    d >= noise and d >= 0 in every seed. Otherwise it is inside the noise, or the seeds do not agree."""

    kind: ClassVar[str] = "below"
    lower: str
    higher: str
    measure: Measure = Fused()
    noise: float = 0.02

    def groups(self) -> tuple[str, ...]:
        return self.lower, self.higher

    def __call__(self, evidence: Evidence) -> Verdict:
        low, high = (sample(evidence, group, self.measure) for group in self.groups())
        gaps = differences(low, high)
        if not gaps:
            return missing(*self.groups())
        measured = f"{self.measure}: {told(low.values())} against {told(high.values())}; difference {told(gaps)}"
        mean, fewer = fmean(gaps), sum(gap < 0 for gap in gaps)
        counted = f"lower in {fewer} of {len(gaps)} seeds"
        if mean < -self.noise and fewer == len(gaps):
            return Verdict(CONFIRMED, measured, counted)
        if mean >= self.noise and not fewer:
            return Verdict(REFUTED, measured, counted)
        return Verdict(UNSEEN, measured, f"{counted}; {inside(mean, self.noise)}")


def inside(mean: float, noise: float) -> str:
    """Why a difference is not counted."""
    if abs(mean) <= noise:
        return f"a mean difference of {short(mean)} is inside the noise of {noise:g}"
    return "the seeds do not agree"
