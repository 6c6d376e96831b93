"""A gap between two groups widens along a factor."""

from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev
from typing import ClassVar

from mooring.study.checks.base import CONFIRMED, REFUTED, UNSEEN, Verdict, missing
from mooring.study.evidence import Evidence
from mooring.study.measures import Fused, Measure
from mooring.study.samples import differences, sample, told


@dataclass(frozen=True)
class Trend:
    """Paired by seed, d(v) = lower - higher at each value v of `along`. Confirmed: mean d falls from value to value.
    Not confirmed: the gap at the last value is no wider than at the first. Otherwise, or if the whole widening is
    smaller than the spread of d over seeds, it cannot be seen."""

    kind: ClassVar[str] = "trend"
    lower: str
    higher: str
    along: str
    values: tuple[str | float, ...]
    measure: Measure = Fused()

    def groups(self) -> tuple[str, ...]:
        return tuple(f"{group} {self.along}={value}" for value in self.values for group in (self.lower, self.higher))

    def __call__(self, evidence: Evidence) -> Verdict:
        samples = [sample(evidence, group, self.measure) for group in self.groups()]
        gaps = [differences(low, high) for low, high in zip(samples[::2], samples[1::2], strict=True)]
        if not all(gaps):
            return missing(*(group for group, numbers in zip(self.groups(), samples, strict=True) if not numbers))
        told_gaps = "; ".join(f"{value}: {told(gap)}" for value, gap in zip(self.values, gaps, strict=True))
        measured = f"difference in {self.measure} by {self.along}: {told_gaps}"
        means = [fmean(gap) for gap in gaps]
        spread = max((stdev(gap) for gap in gaps if len(gap) > 1), default=0.0)
        widening = means[0] - means[-1]
        reason = f"from the first to the last {self.along} the gap widens by {widening:.3f}, spread {spread:.3f}"
        if widening <= 0:
            return Verdict(REFUTED, measured, reason)
        steady = all(after < before for before, after in pairwise(means))
        if steady and widening > spread:
            return Verdict(CONFIRMED, measured, f"{reason}, at every step")
        return Verdict(UNSEEN, measured, reason + ("" if steady else ", and not at every step"))
