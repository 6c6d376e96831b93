"""From series to numbers, and numbers by seed: how they are paired, go together, and are told: mean, spread, n."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from statistics import StatisticsError, correlation, fmean, median, stdev
from typing import Literal

from mooring.study.evidence import Evidence, Measure

At = Literal[
    "first", "last", "peak", "lowest", "mean", "growth", "midway", "swell", "spread", "fall", "wobble", "swing"
]
Over = Literal["mean", "median", "max", "min"]


def growth(values: Sequence[float]) -> float:
    """Last / first."""
    return values[-1] / values[0]


def midway(values: Sequence[float]) -> float:
    """Half of the way / first."""
    return values[len(values) // 2] / values[0]


def swell(values: Sequence[float]) -> float:
    """Peak / first."""
    return max(values) / values[0]


def spread(values: Sequence[float]) -> float:
    """Peak / lowest."""
    return max(values) / min(values)


def fall(values: Sequence[float]) -> float:
    """Which share of the peak is lost at worst afterwards."""
    peak = max(values)
    return 1 - min(values[values.index(peak) :]) / peak


def wobble(values: Sequence[float]) -> float:
    """Mean relative change from round to round, over the second half."""
    return fmean([abs(after / before - 1) for before, after in pairwise(late(values))] or [0.0])


def swing(values: Sequence[float]) -> float:
    """(sum |x_r+1 - x_r| - |x_last - x_first|) / (rounds * mean x), over the second half: what is taken back. A steady
    course has none, however steep."""
    half = late(values)
    changes = [after - before for before, after in pairwise(half)]
    return (sum(map(abs, changes)) - abs(sum(changes))) / (max(len(changes), 1) * fmean(half))


def late(values: Sequence[float]) -> Sequence[float]:
    """The second half, from the round before it."""
    return values[len(values) // 2 - 1 :] if len(values) > 3 else values


AT: dict[At, Callable[[Sequence[float]], float]] = {
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "peak": max,
    "lowest": min,
    "mean": fmean,
    "growth": growth,
    "midway": midway,
    "swell": swell,
    "spread": spread,
    "fall": fall,
    "wobble": wobble,
    "swing": swing,
}
WORDS: dict[At, str] = {
    "first": "first round",
    "last": "last round",
    "peak": "largest ever",
    "lowest": "smallest ever",
    "mean": "mean over rounds",
    "growth": "last / first round",
    "midway": "half way / first round",
    "swell": "largest / first round",
    "spread": "largest / smallest",
    "fall": "share lost after the peak",
    "wobble": "mean change per round, second half",
    "swing": "change per round that is taken back, second half",
}
OVER: dict[Over, Callable[[Sequence[float]], float]] = {"mean": fmean, "median": median, "max": max, "min": min}


Sample = dict[int, float]  # by seed


def sample(evidence: Evidence, group: str, measure: Measure) -> Sample:
    """The measure of every run of a group that holds it."""
    numbers = {run.seed: measure.value(run) for run in evidence.runs(group)}
    return {seed: number for seed, number in numbers.items() if number is not None}


def differences(one: Mapping[int, float], other: Mapping[int, float]) -> list[float]:
    """one - other, seed by seed: the same partition under both."""
    return [one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]


def told(numbers: Collection[float]) -> str:
    """`0.412 ± 0.031 (n = 3)`; the spread is the standard deviation over seeds."""
    values = list(numbers)
    if not values:
        return "-"
    spread = f" ± {short(stdev(values))}" if len(values) > 1 else ""
    return f"{short(fmean(values))}{spread} (n = {len(values)})"


def short(value: float) -> str:
    """Three decimals, or three digits where that says nothing."""
    if value == 0:
        return "0"
    return f"{value:.3f}" if 0.01 <= abs(value) < 100 else f"{value:.3g}"


def ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """None for fewer than three points, or where one of the two stands still."""
    if len(x) < 3:
        return None
    try:
        return correlation(ranks(x), ranks(y))
    except StatisticsError:
        return None
