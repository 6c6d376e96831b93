"""From a series over rounds, or over clients, to one number."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Literal

At = Literal[
    "first",
    "last",
    "peak",
    "lowest",
    "mean",
    "middle",
    "growth",
    "settled",
    "midway",
    "swell",
    "spread",
    "fall",
    "wobble",
    "swing",
]
Over = Literal["mean", "median", "max", "min"]


def growth(values: Sequence[float]) -> float:
    """Last / first."""
    return values[-1] / values[0]


def settled_ratio(values: Sequence[float]) -> float:
    """Last / after a tenth of the rounds; never the first round, in which the value has not settled yet."""
    return values[-1] / values[min(max(1, len(values) // 10), len(values) - 1)]


def midway(values: Sequence[float]) -> float:
    """Middle round / first."""
    return values[len(values) // 2] / values[0]


def swell(values: Sequence[float]) -> float:
    """Peak / first."""
    return max(values) / values[0]


def peak_ratio(values: Sequence[float]) -> float:
    """Peak / lowest."""
    return max(values) / min(values)


def fall(values: Sequence[float]) -> float:
    """The largest share of the peak that is lost afterwards."""
    peak = max(values)
    return 1 - min(values[values.index(peak) :]) / peak


def wobble(values: Sequence[float]) -> float:
    """Mean relative change from round to round, over the second half."""
    return fmean([abs(after / before - 1) for before, after in pairwise(late(values))] or [0.0])


def swing(values: Sequence[float]) -> float:
    """(sum |x_r+1 - x_r| - |x_last - x_first|) / (rounds * mean x), over the second half: the part of the
    changes that is undone. A monotonic course has none."""
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
    "middle": median,
    "growth": growth,
    "settled": settled_ratio,
    "midway": midway,
    "swell": swell,
    "spread": peak_ratio,
    "fall": fall,
    "wobble": wobble,
    "swing": swing,
}
LEVELS: tuple[At, ...] = ("first", "last", "peak", "lowest", "mean", "middle")  # in the unit of the values themselves
WORDS: dict[At, str] = {
    "first": "first round",
    "last": "last round",
    "peak": "largest ever",
    "lowest": "smallest ever",
    "mean": "mean over rounds",
    "middle": "median over rounds",
    "growth": "last / first round",
    "settled": "last round / after a tenth of them",
    "midway": "half way / first round",
    "swell": "largest / first round",
    "spread": "largest / smallest",
    "fall": "share lost after the peak",
    "wobble": "mean change per round, second half",
    "swing": "change per round that is taken back, second half",
}
OVER: dict[Over, Callable[[Sequence[float]], float]] = {"mean": fmean, "median": median, "max": max, "min": min}
