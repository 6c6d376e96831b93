"""Who leads a sweep, and is that settled? Combinations on the same data and partition, pair by pair of seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from mooring.record import strict_json
from mooring.sweep.summary import SEED, Difference, Factors, Scored, difference

PROBLEM = ("data", "partition", "alpha")  # keys, and beginnings of keys, that make another problem


@dataclass(frozen=True)
class Lead:
    """The best combination on one problem; `nearest` is the one that comes closest, by `gap`."""

    best: Factors
    nearest: Factors
    gap: Difference
    settled: bool  # the 95 % interval of the difference to every other one excludes 0


def leads(runs: Sequence[Scored], factors: Sequence[str]) -> tuple[Lead, ...]:
    """One for every problem that several combinations have met."""
    kept = [factor for factor in factors if factor != SEED]
    problems: dict[str, dict[str, list[Scored]]] = {}
    for run in runs:
        if run.accuracy is None:
            continue
        problem = strict_json([run.factors[factor] for factor in kept if of_problem(factor)])
        combination = strict_json([run.factors[factor] for factor in kept])
        problems.setdefault(problem, {}).setdefault(combination, []).append(run)
    return tuple(lead(list(groups.values()), kept) for groups in problems.values() if len(groups) > 1)


def of_problem(factor: str) -> bool:
    return factor.split(".", maxsplit=1)[0] in PROBLEM


def lead(groups: Sequence[Sequence[Scored]], kept: Sequence[str]) -> Lead:
    best = max(groups, key=mean)
    against = [(other, difference(paired(best, other))) for other in groups if other is not best]
    unsure = [(other, gap) for other, gap in against if gap.low is None or gap.low <= 0]
    nearest, gap = min(unsure or against, key=lambda pair: 1.0 if pair[1].mean is None else pair[1].mean)
    named = [{factor: group[0].factors[factor] for factor in kept} for group in (best, nearest)]
    return Lead(named[0], named[1], gap, not unsure)


def mean(group: Sequence[Scored]) -> float:
    return fmean(run.accuracy for run in group if run.accuracy is not None)


def paired(one: Sequence[Scored], other: Sequence[Scored]) -> list[float]:
    """Differences between runs of the same seed."""
    partners = by_seed(other)
    return [value - partners[seed] for seed, value in by_seed(one).items() if seed in partners]


def by_seed(group: Sequence[Scored]) -> Mapping[str, float]:
    return {str(run.factors.get(SEED)): run.accuracy for run in group if run.accuracy is not None}
