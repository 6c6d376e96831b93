"""Means over seeds, and differences from a baseline, paired by everything else."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from mooring.intervals import newcombe
from mooring.record import RunRecord
from mooring.schema import strict_json

SEED = "seed"
CONFIDENCE = 0.95
SAME_ACCURACY = 1e-6  # half width of an interval of accuracies; below it, seeds change nothing
SummaryCell = str | int | float | None
AccuracyPair = tuple[float, float]  # accuracies of two runs that differ in one factor
Factors = Mapping[str, SummaryCell]


@dataclass(frozen=True)
class Difference:
    """Mean difference from the baseline over pairs, with its 95 % confidence interval; a single pair has none."""

    mean: float | None
    pairs: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class SummaryRow:
    """Runs that differ only in their seed; a search optimises `validation`."""

    factors: Factors
    validation: float | None
    n: int
    mean: float | None
    std: float | None
    difference: Difference | None = None  # None without a baseline
    track: str = ""  # results are comparable within a track


def summarised(runs: Sequence[RunRecord], factors: Sequence[str], baseline: str | None) -> list[SummaryRow]:
    """One line per combination of the factors but the seed: n, mean, std; and the difference from the baseline.

    difference = mean of a - b over pairs that agree in every other factor and in the seed, +- t(n-1) std / sqrt(n)
    """
    return [summary_of(combination, group, runs, baseline) for combination, group in by_combination(runs, factors)]


def by_combination(runs: Iterable[RunRecord], factors: Sequence[str]) -> list[tuple[Factors, list[RunRecord]]]:
    """Runs that differ by their seed only, with the factors that they share."""
    kept = [factor for factor in factors if factor != SEED]
    groups: dict[str, list[RunRecord]] = {}
    for run in runs:
        groups.setdefault(strict_json([run.factors[factor] for factor in kept]), []).append(run)
    return [({factor: group[0].factors[factor] for factor in kept}, group) for group in groups.values()]


def summary_of(
    factors: Factors, group: Sequence[RunRecord], runs: Sequence[RunRecord], baseline: str | None
) -> SummaryRow:
    values = [run.accuracy for run in group if run.accuracy is not None]
    return SummaryRow(
        factors,
        mean_validation([run.validation_accuracy for run in group]),
        len(values),
        fmean(values) if values else None,
        stdev(values) if len(values) > 1 else None,
        None if baseline is None else difference(baseline_pairs(group, runs, baseline), group[0].test_images),
    )


def mean_validation(values: Sequence[float | None]) -> float | None:
    """The score of a trial; None if one of its runs has no validation accuracy."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def baseline_pairs(group: Sequence[RunRecord], runs: Sequence[RunRecord], baseline: str) -> list[AccuracyPair]:
    """Accuracy of each run of the group and of the baseline run with the same other factors."""
    key, _, text = baseline.partition("=")

    def others(run: RunRecord) -> str:
        return strict_json({name: value for name, value in sorted(run.factors.items()) if name != key})

    base = {others(run): run.accuracy for run in runs if str(run.factors.get(key)) == text}
    pairs = [(run.accuracy, base.get(others(run))) for run in group]
    return [(a, b) for a, b in pairs if a is not None and b is not None]


def difference(pairs: Sequence[AccuracyPair], images: int | None = None) -> Difference:
    """The mean difference of accuracies with its interval, within [-1, 1].

    Seeds that change nothing would settle the difference of a single image: then the interval is over the images.
    """
    if not pairs:
        return Difference(None, 0)
    differences = [a - b for a, b in pairs]
    mean, n = fmean(differences), len(differences)
    if n == 1:
        return Difference(mean, n)
    half = half_width(stdev(differences), n)
    if half <= SAME_ACCURACY and images:
        a, b = (round(fmean(values) * images) for values in zip(*pairs, strict=True))
        return Difference(mean, n, *newcombe(a, b, images))
    return Difference(mean, n, max(mean - half, -1.0), min(mean + half, 1.0))


def half_width(std: float, n: int) -> float:
    """t(n - 1) std / sqrt(n): half the width of a confidence interval of a mean."""
    from scipy.special import stdtrit

    t = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
    return t * std / float(n**0.5)
