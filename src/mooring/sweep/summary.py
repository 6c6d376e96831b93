"""Means over seeds, and differences from a baseline, paired by everything else."""

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

SEED = "seed"
CONFIDENCE = 0.95
Row = dict[str, Any]


def summary_rows(rows: Sequence[Row], factors: Sequence[str], baseline: str | None) -> list[Row]:
    """One line per combination of the factors but the seed: n, mean, std; and the difference from the baseline.

    difference = mean of a - b over pairs that agree in every other factor and in the seed, +- t(n-1) std / sqrt(n)
    """
    kept = [factor for factor in factors if factor != SEED]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[factor] for factor in kept), []).append(row)
    return [
        {
            **dict(zip(kept, key, strict=True)),
            "validation": mean_validation([row["validation_accuracy"] for row in group]),
            **spread([row["accuracy"] for row in group if row["accuracy"] is not None]),
            **against(group, rows, factors, baseline),
        }
        for key, group in groups.items()
    ]


def mean_validation(values: Sequence[float | None]) -> float | None:
    """What a search goes by: none if one of the runs has none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def spread(values: Sequence[float]) -> Row:
    return {
        "n": len(values),
        "mean": fmean(values) if values else None,
        "std": stdev(values) if len(values) > 1 else None,
    }


def against(group: Sequence[Row], rows: Sequence[Row], factors: Sequence[str], baseline: str | None) -> Row:
    return {} if baseline is None else difference(paired(group, rows, factors, baseline))


def paired(group: Sequence[Row], rows: Sequence[Row], factors: Sequence[str], baseline: str) -> list[float]:
    """Accuracy of each of the group minus that of its partner, which has the baseline's value and all else the same."""
    key, _, text = baseline.partition("=")
    others = [factor for factor in factors if factor != key]
    base = {tuple(row[f] for f in others): row["accuracy"] for row in rows if str(row[key]) == text}
    pairs = [(row["accuracy"], base.get(tuple(row[f] for f in others))) for row in group]
    return [a - b for a, b in pairs if a is not None and b is not None]


def difference(differences: Sequence[float]) -> Row:
    """Mean difference with its 95 % confidence interval; a single pair has none."""
    if not differences:
        return {"difference": None, "pairs": 0, "low": None, "high": None}
    mean, n = fmean(differences), len(differences)
    half = interval(stdev(differences), n) if n > 1 else None
    return {
        "difference": mean,
        "pairs": n,
        "low": None if half is None else mean - half,
        "high": None if half is None else mean + half,
    }


def interval(std: float, n: int) -> float:
    """t(n - 1) std / sqrt(n): half the width of a confidence interval of a mean."""
    from scipy.special import stdtrit

    t = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
    return t * std / float(n**0.5)
