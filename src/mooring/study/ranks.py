"""Spearman's rank correlation; ties share their mean rank."""

from collections.abc import Sequence
from statistics import StatisticsError, correlation


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
