"""Checks that compare groups of runs, paired by seed.

Accuracies are compared only if at least one of the compared groups is above the majority-class baseline: methods that
have not learned cannot be ranked. The weaker group may be at the baseline, which is how a collapse shows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev
from typing import ClassVar

from mooring.notes._claims import NOISE, Verdict, not_above_baseline, nothing_measured
from mooring.notes._evidence import Evidence
from mooring.notes._measures import Fused, Measure
from mooring.notes._statistics import differences, main_number, sample, sample_text, short_value
from mooring.notes._study_record import CONFIRMED, NOT_RUN, REFUTED, UNDECIDED, ClaimAnswer, MainNumber

Gaps = tuple[float, ...]
Decide = Callable[[Gaps], tuple[ClaimAnswer, str]]


@dataclass(frozen=True)
class PairedDifference:
    """one - other, seed by seed; empty if no seed has both."""

    gaps: Gaps
    measured: str

    @property
    def number(self) -> MainNumber | None:
        return main_number(self.gaps, "difference")


def paired(evidence: Evidence, measure: Measure, groups: tuple[str, str], word: str) -> PairedDifference:
    one, other = (sample(evidence, group, measure) for group in groups)
    gaps = tuple(differences(one, other))
    numbers = f"{sample_text(one.values())} {word} {sample_text(other.values())}"
    return PairedDifference(gaps, f"{measure}: {numbers}; difference {sample_text(gaps)}")


def paired_verdict(
    evidence: Evidence, measure: Measure, groups: tuple[str, str], word: str, margin: float, decide: Decide
) -> Verdict:
    """The verdict of `decide` on the differences between two groups, if they can be compared at all."""
    found = paired(evidence, measure, groups, word)
    if not found.gaps:
        return nothing_measured(evidence, *groups)
    if reason := not_above_baseline(evidence, measure, groups, margin):
        return Verdict(UNDECIDED, found.measured, reason, found.number)
    answer, reason = decide(found.gaps)
    return Verdict(answer, found.measured, reason, found.number)


@dataclass(frozen=True)
class Below:
    """One group is below another.

    Paired by seed, d = lower - higher. Confirmed: mean d < -noise and d < 0 in every seed. Not confirmed: mean
    d >= noise and d >= 0 in every seed. Otherwise the difference is inside the noise, or the seeds do not agree.
    """

    kind: ClassVar[str] = "below"
    lower: str
    higher: str
    measure: Measure = Fused()
    noise: float = NOISE

    def groups(self) -> tuple[str, str]:
        return self.lower, self.higher

    def __call__(self, evidence: Evidence) -> Verdict:
        return paired_verdict(evidence, self.measure, self.groups(), "against", self.noise, self.decide)

    def decide(self, gaps: Gaps) -> tuple[ClaimAnswer, str]:
        mean, fewer = fmean(gaps), sum(gap < 0 for gap in gaps)
        reason = f"lower in {fewer} of {len(gaps)} seeds"
        if mean < -self.noise and fewer == len(gaps):
            return CONFIRMED, reason
        if mean >= self.noise and not fewer:
            return REFUTED, reason
        return UNDECIDED, f"{reason}; {undecided(mean, self.noise)}"


def undecided(mean: float, noise: float) -> str:
    """Why a difference does not decide."""
    if abs(mean) <= noise:
        return f"a mean difference of {short_value(mean)} is inside the noise of {noise:g}"
    return "the seeds do not agree"


@dataclass(frozen=True)
class Alike:
    """Two groups are practically the same.

    Paired by seed, d = one - other. Confirmed: |d| <= margin in every seed. Not confirmed: |mean d| > margin and d
    of one sign in every seed. Otherwise the seeds scatter more than the margin.
    """

    kind: ClassVar[str] = "alike"
    one: str
    other: str
    measure: Measure = Fused()
    margin: float = 0.03

    def groups(self) -> tuple[str, str]:
        return self.one, self.other

    def __call__(self, evidence: Evidence) -> Verdict:
        return paired_verdict(evidence, self.measure, self.groups(), "and", self.margin, self.decide)

    def decide(self, gaps: Gaps) -> tuple[ClaimAnswer, str]:
        close = sum(abs(gap) <= self.margin for gap in gaps)
        reason = f"within {self.margin:g} of each other in {close} of {len(gaps)} seeds"
        if close == len(gaps):
            return CONFIRMED, reason
        above = sum(gap > 0 for gap in gaps)
        if abs(fmean(gaps)) > self.margin and above in (0, len(gaps)):
            return REFUTED, f"{reason}, and always the same one is higher"
        return UNDECIDED, f"{reason}; the seeds scatter more than that"


@dataclass(frozen=True)
class NoBetter:
    """One group is not above another: nothing was gained.

    Paired by seed, d = one - other. Confirmed: d <= noise in every seed. Not confirmed: mean d > noise and d > 0 in
    every seed. Otherwise it depends on the seed.
    """

    kind: ClassVar[str] = "no-better"
    one: str
    other: str
    measure: Measure = Fused()
    noise: float = NOISE

    def groups(self) -> tuple[str, str]:
        return self.one, self.other

    def __call__(self, evidence: Evidence) -> Verdict:
        return paired_verdict(evidence, self.measure, self.groups(), "against", self.noise, self.decide)

    def decide(self, gaps: Gaps) -> tuple[ClaimAnswer, str]:
        level = sum(gap <= self.noise for gap in gaps)
        reason = f"higher by no more than {self.noise:g} in {level} of {len(gaps)} seeds"
        if level == len(gaps):
            return CONFIRMED, reason
        if fmean(gaps) > self.noise and all(gap > 0 for gap in gaps):
            return REFUTED, f"{reason}, and higher in all of them"
        return UNDECIDED, f"{reason}: it depends on the seed"


@dataclass(frozen=True)
class Varies:
    """A measure depends on what differs between several groups.

    Paired by seed, d = highest - lowest over the groups. Confirmed: d >= least in every seed. Not confirmed: in none.
    Otherwise it depends on the seed.
    """

    kind: ClassVar[str] = "varies"
    over: tuple[str, ...]
    least: float
    measure: Measure = Fused()

    def groups(self) -> tuple[str, ...]:
        return self.over

    def __call__(self, evidence: Evidence) -> Verdict:
        samples = {group: sample(evidence, group, self.measure) for group in self.over}
        seeds = sorted(set.intersection(*(set(found) for found in samples.values())))
        ranges = [
            max(found[seed] for found in samples.values()) - min(found[seed] for found in samples.values())
            for seed in seeds
        ]
        if not ranges:
            return nothing_measured(evidence, *self.over)
        numbers = ", ".join(f"{sample_text(found.values())} for {group}" for group, found in samples.items())
        measured = f"{self.measure}: {numbers}; highest - lowest {sample_text(ranges)}"
        number = main_number(ranges, "highest - lowest")
        if reason := not_above_baseline(evidence, self.measure, self.over, NOISE):
            return Verdict(UNDECIDED, measured, reason, number)
        wide = sum(gap >= self.least for gap in ranges)
        reason = f"apart by {self.least:g} or more in {wide} of {len(ranges)} seeds"
        if wide in (0, len(ranges)):
            return Verdict(CONFIRMED if wide else REFUTED, measured, reason, number)
        return Verdict(UNDECIDED, measured, f"{reason}: it depends on the seed", number)


@dataclass(frozen=True)
class Order:
    """Several groups are in an order: `highest` names them, each below the one before it."""

    kind: ClassVar[str] = "order"
    highest: tuple[str, ...]
    measure: Measure = Fused()
    noise: float = NOISE

    def groups(self) -> tuple[str, ...]:
        return self.highest

    def __call__(self, evidence: Evidence) -> Verdict:
        samples = {group: sample(evidence, group, self.measure) for group in self.highest}
        if not all(samples.values()):
            return nothing_measured(evidence, *self.highest)
        numbers = ", ".join(f"{sample_text(found.values())} for {group}" for group, found in samples.items())
        pairs = {(low, high): Below(low, high, self.measure, self.noise) for high, low in pairwise(self.highest)}
        verdicts = {pair: check(evidence) for pair, check in pairs.items()}
        reason = "; ".join(f"{low} against {high}: {verdict.reason}" for (low, high), verdict in verdicts.items())
        answers = {verdict.verdict for verdict in verdicts.values()}
        worst = next(answer for answer in (REFUTED, NOT_RUN, UNDECIDED, CONFIRMED) if answer in answers)
        return Verdict(worst, f"{self.measure}: {numbers}", reason)


@dataclass(frozen=True)
class Trend:
    """A gap between two groups widens along a factor.

    Paired by seed, d(v) = lower - higher at each value v of `along`. Confirmed: mean d falls from value to value.
    Not confirmed: the gap at the last value is no wider than at the first. It cannot be seen if the whole widening is
    smaller than the standard deviation of d over seeds, or if mean d does not fall at every step.
    """

    kind: ClassVar[str] = "trend"
    lower: str
    higher: str
    along: str
    values: tuple[str | float, ...]
    measure: Measure = Fused()

    def groups(self) -> tuple[str, ...]:
        return tuple(group for pair in self.pairs() for group in pair)

    def pairs(self) -> list[tuple[str, str]]:
        return [(f"{self.lower} {at}", f"{self.higher} {at}") for at in (f"{self.along}={v}" for v in self.values)]

    def __call__(self, evidence: Evidence) -> Verdict:
        gaps = [paired(evidence, self.measure, pair, "against").gaps for pair in self.pairs()]
        if not all(gaps):
            return nothing_measured(evidence, *self.groups())
        numbers = "; ".join(f"{value}: {sample_text(gap)}" for value, gap in zip(self.values, gaps, strict=True))
        measured = f"difference in {self.measure} by {self.along}: {numbers}"
        for value, pair in zip(self.values, self.pairs(), strict=True):
            if reason := not_above_baseline(evidence, self.measure, pair, NOISE):
                return Verdict(UNDECIDED, measured, f"at {self.along}={value} {reason}")
        means = [fmean(gap) for gap in gaps]
        spread = max((stdev(gap) for gap in gaps if len(gap) > 1), default=0.0)
        widening = means[0] - means[-1]
        reason = f"from the first to the last {self.along} the gap widens by {widening:.3f}, spread {spread:.3f}"
        if widening <= 0:
            return Verdict(REFUTED, measured, reason)
        steady = all(after < before for before, after in pairwise(means))
        if steady and widening > spread:
            return Verdict(CONFIRMED, measured, f"{reason}, at every step")
        return Verdict(UNDECIDED, measured, reason + ("" if steady else ", and not at every step"))
