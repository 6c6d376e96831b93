"""Checks that compare groups of runs with each other, paired by seed."""

from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev
from typing import ClassVar

from mooring.notes.claims import Verdict, missing
from mooring.notes.evidence import Evidence
from mooring.notes.measures import Fused, Measure
from mooring.notes.statistics import differences, main_number, sample, sample_text, short_value
from mooring.notes.study_record import CONFIRMED, REFUTED, UNSEEN


def paired(evidence: Evidence, measure: Measure, groups: tuple[str, str], word: str) -> tuple[list[float], str]:
    """one - other, seed by seed, and what was measured in words; no seed that has both, no differences."""
    one, other = (sample(evidence, group, measure) for group in groups)
    gaps = list(differences(one, other))
    if not gaps:
        return [], ""
    return (
        gaps,
        f"{measure}: {sample_text(one.values())} {word} {sample_text(other.values())}; difference {sample_text(gaps)}",
    )


def guessing(evidence: Evidence, measure: Measure, groups: tuple[str, str], margin: float) -> str:
    """Why two fused accuracies that are alike say nothing: no run of either group is above guessing by two margins."""
    runs = [run for group in groups for run in evidence.runs(group)]
    shares = [run.trained.metrics.guess for run in runs if run.trained is not None]
    share = max((guess for guess in shares if guess is not None), default=None)
    if share is None or not isinstance(measure, Fused) or measure.at != "last":
        return ""
    if any((measure.value(run) or 0.0) > share + 2 * margin for run in runs):
        return ""
    return f"; but nobody is above guessing ({share:.3g}) by more than {2 * margin:g}: there is nothing to compare"


@dataclass(frozen=True)
class Below:
    """One group is below another.

    Paired by seed, d = lower - higher. Confirmed: mean d < -noise and d < 0 in every seed. Not confirmed: mean
    d >= noise and d >= 0 in every seed. Otherwise it is inside the noise, or the seeds do not agree.
    """

    kind: ClassVar[str] = "below"
    lower: str
    higher: str
    measure: Measure = Fused()
    noise: float = 0.02

    def groups(self) -> tuple[str, str]:
        return self.lower, self.higher

    def __call__(self, evidence: Evidence) -> Verdict:
        gaps, measured = paired(evidence, self.measure, self.groups(), "against")
        if not gaps:
            return missing(*self.groups())
        number = main_number(gaps, "difference")
        mean, fewer = fmean(gaps), sum(gap < 0 for gap in gaps)
        counted = f"lower in {fewer} of {len(gaps)} seeds"
        if mean < -self.noise and fewer == len(gaps):
            return Verdict(CONFIRMED, measured, counted, number)
        if mean >= self.noise and not fewer:
            return Verdict(REFUTED, measured, counted, number)
        return Verdict(UNSEEN, measured, f"{counted}; {inside(mean, self.noise)}", number)


def inside(mean: float, noise: float) -> str:
    """Why a difference is not counted."""
    if abs(mean) <= noise:
        return f"a mean difference of {short_value(mean)} is inside the noise of {noise:g}"
    return "the seeds do not agree"


@dataclass(frozen=True)
class Alike:
    """Two groups are as good as the same.

    Paired by seed, d = one - other. Confirmed: |d| <= margin in every seed. Not confirmed: |mean d| > margin and d
    of one sign in every seed. Otherwise the seeds scatter wider than the margin. Accuracies that are hardly above
    guessing are not compared.
    """

    kind: ClassVar[str] = "alike"
    one: str
    other: str
    measure: Measure = Fused()
    margin: float = 0.03

    def groups(self) -> tuple[str, str]:
        return self.one, self.other

    def __call__(self, evidence: Evidence) -> Verdict:
        gaps, measured = paired(evidence, self.measure, self.groups(), "and")
        if not gaps:
            return missing(*self.groups())
        number = main_number(gaps, "difference")
        close = sum(abs(gap) <= self.margin for gap in gaps)
        reason = f"within {self.margin:g} of each other in {close} of {len(gaps)} seeds"
        if close == len(gaps):
            nothing = guessing(evidence, self.measure, self.groups(), self.margin)
            return Verdict(UNSEEN if nothing else CONFIRMED, measured, reason + nothing, number)
        if abs(fmean(gaps)) > self.margin and abs(sum(gap > 0 for gap in gaps) * 2 - len(gaps)) == len(gaps):
            return Verdict(REFUTED, measured, f"{reason}, and always the same one is higher", number)
        return Verdict(UNSEEN, measured, f"{reason}; the seeds scatter wider than that", number)


@dataclass(frozen=True)
class NoBetter:
    """One group is not above another: nothing was gained.

    Paired by seed, d = one - other. Confirmed: d <= noise in every seed. Not confirmed: mean d > noise and d > 0 in
    every seed. Otherwise it depends on the seed. Accuracies that are hardly above guessing are not compared.
    """

    kind: ClassVar[str] = "no-better"
    one: str
    other: str
    measure: Measure = Fused()
    noise: float = 0.02

    def groups(self) -> tuple[str, str]:
        return self.one, self.other

    def __call__(self, evidence: Evidence) -> Verdict:
        gaps, measured = paired(evidence, self.measure, self.groups(), "against")
        if not gaps:
            return missing(*self.groups())
        number = main_number(gaps, "difference")
        level = sum(gap <= self.noise for gap in gaps)
        reason = f"higher by no more than {self.noise:g} in {level} of {len(gaps)} seeds"
        if level == len(gaps):
            nothing = guessing(evidence, self.measure, self.groups(), self.noise)
            return Verdict(UNSEEN if nothing else CONFIRMED, measured, reason + nothing, number)
        if fmean(gaps) > self.noise and all(gap > 0 for gap in gaps):
            return Verdict(REFUTED, measured, f"{reason}, and higher in all of them", number)
        return Verdict(UNSEEN, measured, f"{reason}: it depends on the seed", number)


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
        empty = [group for group, found in samples.items() if not found]
        if empty:
            return missing(*empty)
        seeds = sorted(set.intersection(*(set(found) for found in samples.values())))
        ranges = [
            max(found[seed] for found in samples.values()) - min(found[seed] for found in samples.values())
            for seed in seeds
        ]
        if not ranges:
            return missing(*self.over)
        numbers = ", ".join(f"{sample_text(found.values())} for {group}" for group, found in samples.items())
        measured = f"{self.measure}: {numbers}; highest - lowest {sample_text(ranges)}"
        number = main_number(ranges, "highest - lowest")
        wide = sum(gap >= self.least for gap in ranges)
        reason = f"apart by {self.least:g} or more in {wide} of {len(ranges)} seeds"
        if wide in (0, len(ranges)):
            return Verdict(CONFIRMED if wide else REFUTED, measured, reason, number)
        return Verdict(UNSEEN, measured, f"{reason}: it depends on the seed", number)


@dataclass(frozen=True)
class Order:
    """Several groups stand in an order: `highest` names them, each below the one before it."""

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
        numbers = ", ".join(f"{sample_text(found.values())} for {group}" for group, found in samples.items())
        measured = f"{self.measure}: {numbers}"
        pairs = {(low, high): Below(low, high, self.measure, self.noise) for high, low in pairwise(self.highest)}
        verdicts = {pair: check(evidence) for pair, check in pairs.items()}
        reason = "; ".join(f"{low} against {high}: {verdict.reason}" for (low, high), verdict in verdicts.items())
        answers = {verdict.verdict for verdict in verdicts.values()}
        worst = next(answer for answer in (REFUTED, UNSEEN, CONFIRMED) if answer in answers)
        return Verdict(worst, measured, reason)


@dataclass(frozen=True)
class Trend:
    """A gap between two groups widens along a factor.

    Paired by seed, d(v) = lower - higher at each value v of `along`. Confirmed: mean d falls from value to value.
    Not confirmed: the gap at the last value is no wider than at the first. Otherwise, or if the whole widening is
    smaller than the spread of d over seeds, it cannot be seen.
    """

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
        told_gaps = "; ".join(f"{value}: {sample_text(gap)}" for value, gap in zip(self.values, gaps, strict=True))
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
