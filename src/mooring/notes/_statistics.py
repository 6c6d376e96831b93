"""Numbers by seed: pairs, rank correlation, mean and standard deviation, and their text."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import StatisticsError, correlation, fmean, stdev

from mooring.notes._evidence import Evidence
from mooring.notes._measures import Measure
from mooring.notes._study_record import MainNumber
from mooring.reports import Spread
from mooring.wording import matching_digits

Sample = dict[int, float]  # by seed


def sample(evidence: Evidence, group: str, measure: Measure) -> Sample:
    """The measure of every run of a group that holds it."""
    numbers = {run.seed: measure.value(run) for run in evidence.runs(group)}
    return {seed: number for seed, number in numbers.items() if number is not None}


def differences(one: Mapping[int, float], other: Mapping[int, float]) -> list[float]:
    """one - other, seed by seed; the same seed gives both the same partition."""
    return [one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]


def spread(values: Iterable[float]) -> Spread | None:
    """Mean, standard deviation and n over seeds; None without any."""
    numbers = list(values)
    if not numbers:
        return None
    return Spread(fmean(numbers), stdev(numbers) if len(numbers) > 1 else None, len(numbers))


def sample_text(numbers: Iterable[float]) -> str:
    """`0.412 ± 0.031 (n = 3)`: mean and standard deviation over seeds."""
    found = spread(numbers)
    return "-" if found is None else f"{mean_and_std(found.mean, found.std)} (n = {found.n})"


def mean_and_std(mean: float, std: float | None) -> str:
    """`0.412 ± 0.031`; without a deviation for a single seed."""
    return short_value(mean) + (
        "" if std is None else f" ± {matching_digits(short_value(mean), std, short_value(std))}"
    )


def main_number(values: Iterable[float], name: str = "") -> MainNumber | None:
    """The number that a verdict rests on."""
    found = spread(values)
    return None if found is None else MainNumber(found, name)


def short_value(value: float) -> str:
    """Three decimals, or three digits for very small and large values."""
    if value == 0:
        return "0"
    return f"{value:.3f}" if 0.01 <= abs(value) < 100 else f"{value:#.3g}".removesuffix(".")


def ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's rank correlation; None for fewer than three points, or if one of the two is constant."""
    if len(x) < 3:
        return None
    try:
        return correlation(ranks(x), ranks(y))
    except StatisticsError:
        return None
