"""From a series over rounds, or over clients, to one number."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Literal

At = Literal["first", "last", "peak", "lowest", "mean", "growth", "swell", "fall", "wobble"]
Over = Literal["mean", "median", "max", "min"]


def growth(values: Sequence[float]) -> float:
    """Last / first."""
    return values[-1] / values[0]


def swell(values: Sequence[float]) -> float:
    """Peak / first."""
    return max(values) / values[0]


def fall(values: Sequence[float]) -> float:
    """Which share of the peak is lost at worst afterwards."""
    peak = max(values)
    return 1 - min(values[values.index(peak) :]) / peak


def wobble(values: Sequence[float]) -> float:
    """Mean relative change from round to round, over the second half."""
    late = values[len(values) // 2 - 1 :] if len(values) > 3 else values
    return fmean([abs(after / before - 1) for before, after in pairwise(late)] or [0.0])


AT: dict[At, Callable[[Sequence[float]], float]] = {
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "peak": max,
    "lowest": min,
    "mean": fmean,
    "growth": growth,
    "swell": swell,
    "fall": fall,
    "wobble": wobble,
}
WORDS: dict[At, str] = {
    "first": "first round",
    "last": "last round",
    "peak": "largest ever",
    "lowest": "smallest ever",
    "mean": "mean over rounds",
    "growth": "last / first round",
    "swell": "largest / first round",
    "fall": "share lost after the peak",
    "wobble": "mean change per round, second half",
}
OVER: dict[Over, Callable[[Sequence[float]], float]] = {"mean": fmean, "median": median, "max": max, "min": min}
