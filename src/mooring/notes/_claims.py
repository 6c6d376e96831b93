"""Checks: rules that decide claims; here those about one group of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import ClassVar, Literal, Protocol

from mooring.notes._evidence import Evidence
from mooring.notes._measures import Fused, Measure, accuracy_behind
from mooring.notes._statistics import main_number, sample, sample_text, short_value, spearman
from mooring.notes._study_record import CONFIRMED, NOT_RUN, REFUTED, UNDECIDED, ClaimAnswer, MainNumber
from mooring.record import RunRecord

NOISE = 0.02  # a difference between accuracies that seeds alone can make


@dataclass(frozen=True)
class Verdict:
    """The answer to a claim, the measured numbers, the reason in words, and the number that the answer rests on."""

    verdict: ClaimAnswer
    measured: str
    reason: str
    number: MainNumber | None = None


class Check(Protocol):
    """A rule that decides a claim from finished runs."""

    kind: ClassVar[str]

    def __call__(self, evidence: Evidence) -> Verdict: ...

    def groups(self) -> tuple[str, ...]:
        """The groups of runs that it needs."""
        ...


def nothing_measured(evidence: Evidence, *groups: str) -> Verdict:
    """The verdict without any number: the runs are missing, or they do not record what the claim is about."""
    absent = [evidence.why_absent(group) for group in groups if not evidence.runs(group)]
    if absent:
        return Verdict(NOT_RUN, "-", "; ".join(dict.fromkeys(absent)))
    if not set.intersection(*({run.seed for run in evidence.runs(group)} for group in groups)):
        return Verdict(NOT_RUN, "-", f"no seed has finished runs of {' and '.join(groups)}")
    return Verdict(UNDECIDED, "-", f"the finished runs of {' and '.join(groups)} do not record it")


def not_above_baseline(evidence: Evidence, measure: Measure, groups: Sequence[str], margin: float = NOISE) -> str:
    """Why these accuracies decide nothing; empty if they do.

    max_g mean_s accuracy[g, s] <= baseline + margin, where the baseline is the share of the most frequent class of the
    test images. Runs that do not record the labels of their test images are compared without this rule.
    """
    accuracy = accuracy_behind(measure)
    runs = [run for group in groups for run in evidence.runs(group)]
    shares = [run.result.metrics.guess for run in runs if run.result is not None]
    baseline = max((share for share in shares if share is not None), default=None)
    if accuracy is None or baseline is None:
        return ""
    found = [values for group in groups if (values := sample(evidence, group, accuracy).values())]
    if not found or max(map(fmean, found)) > baseline + margin:
        return ""
    return f"no compared method is above the majority-class baseline ({baseline:.3g}) by more than {margin:g}"


@dataclass(frozen=True)
class Within:
    """A measure lies between two bounds.

    low <= measure <= high. Confirmed: in every seed. Not confirmed: in none. Otherwise it depends on the seed.
    A ratio of accuracies decides nothing if their peak is not above the majority-class baseline.
    """

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
            return nothing_measured(evidence, self.of)
        low, high = -inf if self.low is None else self.low, inf if self.high is None else self.high
        inside = sum(low <= number <= high for number in numbers)
        measured = (
            f"{self.measure}: {sample_text(numbers)}, from {short_value(min(numbers))} to {short_value(max(numbers))}"
        )
        is_ratio = accuracy_behind(self.measure) not in (None, self.measure)
        if is_ratio and (reason := not_above_baseline(evidence, self.measure, self.groups())):
            return Verdict(UNDECIDED, measured, reason, main_number(numbers, str(self.measure)))
        reason = f"{self.rule()} in {inside} of {len(numbers)} seeds"
        verdict = CONFIRMED if inside == len(numbers) else REFUTED if not inside else UNDECIDED
        reason += ": it depends on the seed" if verdict == UNDECIDED else ""
        return Verdict(verdict, measured, reason, main_number(numbers, str(self.measure)))

    def rule(self) -> str:
        bounds = {"at least": self.low, "at most": self.high}
        return " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)


@dataclass(frozen=True)
class Correlation:
    """Two measures are correlated, over clients or over rounds.

    rho is Spearman's rank correlation in each run, `sign` the claimed sign. Confirmed: sign * mean rho >= strength, and
    the sign is right in every seed. Not confirmed: sign * mean rho <= 0. Otherwise it is too weak to be seen.
    """

    kind: ClassVar[str] = "correlation"
    of: str
    x: Measure
    y: Measure
    across: Literal["clients", "rounds"] = "clients"
    sign: Literal[-1, 1] = 1
    strength: float = 0.5

    def groups(self) -> tuple[str, ...]:
        return (self.of,)

    def __call__(self, evidence: Evidence) -> Verdict:
        found = [self.of_run(run) for run in evidence.runs(self.of)]
        rhos = [rho for rho in found if rho is not None]
        if not rhos:
            return nothing_measured(evidence, self.of)
        measured = f"rank correlation of {self.x} and {self.y} over {self.across}: {sample_text(rhos)}"
        right = sum(self.sign * rho > 0 for rho in rhos)
        reason = f"{'positive' if self.sign > 0 else 'negative'} in {right} of {len(rhos)} seeds"
        number = main_number(rhos, "rank correlation")
        if self.across == "rounds":
            for measure in (self.x, self.y):
                peak = Fused("peak") if accuracy_behind(measure) is not None else measure
                if why := not_above_baseline(evidence, peak, self.groups()):
                    return Verdict(UNDECIDED, measured, why, number)
        if self.sign * fmean(rhos) <= 0:
            return Verdict(REFUTED, measured, reason, number)
        if self.sign * fmean(rhos) >= self.strength and right == len(rhos):
            return Verdict(CONFIRMED, measured, reason, number)
        return Verdict(UNDECIDED, measured, f"{reason}, and weaker than {self.strength:g} or not in every seed", number)

    def of_run(self, run: RunRecord) -> float | None:
        if self.across == "rounds":
            x, y = self.x.series(run), self.y.series(run)
        else:
            x, y = self.x.by_client(run), self.y.by_client(run)
        common = sorted(x.keys() & y.keys())
        return spearman([x[key] for key in common], [y[key] for key in common])


@dataclass(frozen=True)
class Given:
    """A claim about the consequences of something that may not happen: `then` decides if `premise` is confirmed."""

    kind: ClassVar[str] = "given"
    premise: Check
    then: Check

    def groups(self) -> tuple[str, ...]:
        return *self.premise.groups(), *self.then.groups()

    def __call__(self, evidence: Evidence) -> Verdict:
        premise, then = self.premise(evidence), self.then(evidence)
        if premise.verdict == CONFIRMED:
            return then
        if NOT_RUN in (premise.verdict, then.verdict):
            return premise if premise.verdict == NOT_RUN else then
        return Verdict(UNDECIDED, then.measured, f"the premise does not hold ({premise.measured}: {premise.reason})")
