"""Which entrant is best, and is that settled? Entrants on the same problem are compared seed by seed.

The caller chooses the entrants: combinations of factors in the terminal, groups of runs on a page.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Generic, TypeVar

from mooring.record import RunRecord
from mooring.schema import strict_json
from mooring.sweeps._summary import SEED, Difference, SummaryRow, difference

PROBLEM = ("data", "partition", "alpha")  # sections and keys that define the problem
T = TypeVar("T")


@dataclass(frozen=True)
class Entrant(Generic[T]):
    """An entrant with an accuracy for every seed, on one problem."""

    who: T
    problem: str
    accuracies: Mapping[Hashable, float]  # by seed: a pair is two runs on the same partition of the same data
    images: int | None = None  # test images

    @property
    def mean(self) -> float:
        return fmean(self.accuracies.values())

    def minus(self, other: "Entrant[T]") -> Difference:
        """The difference over the seeds that both have."""
        theirs = other.accuracies
        pairs = [(value, theirs[seed]) for seed, value in self.accuracies.items() if seed in theirs]
        return difference(pairs, self.images)


@dataclass(frozen=True)
class Best(Generic[T]):
    """The best on one problem; `against` is its difference to each of the others."""

    best: T
    against: tuple[tuple[T, Difference], ...]

    @property
    def unsure(self) -> tuple[tuple[T, Difference], ...]:
        """The others for which the 95 % interval of the difference contains 0."""
        return tuple(pair for pair in self.against if pair[1].low is None or pair[1].low <= 0)

    @property
    def settled(self) -> bool:
        return not self.unsure

    @property
    def nearest(self) -> tuple[T, Difference]:
        """The closest other entrant, first among those whose interval contains 0."""
        return min(self.unsure or self.against, key=lambda pair: 1.0 if pair[1].mean is None else pair[1].mean)


def best_of_each(everybody: Iterable[Entrant[T]]) -> tuple[Best[T], ...]:
    """One for every problem with several entrants."""
    problems: dict[str, list[Entrant[T]]] = {}
    for one in everybody:
        problems.setdefault(one.problem, []).append(one)
    return tuple(best_of(met) for met in problems.values() if len(met) > 1)


def best_of(met: Sequence[Entrant[T]]) -> Best[T]:
    best = max(met, key=lambda one: one.mean)
    return Best(best.who, tuple((other.who, best.minus(other)) for other in met if other is not best))


def best_combinations(runs: Sequence[RunRecord], summary: Sequence[SummaryRow]) -> tuple[Best[SummaryRow], ...]:
    """The best combination of a sweep, for every track, data set and partition."""
    ended = [run for run in runs if run.accuracy is not None]
    groups = {i: [run for run in ended if row.factors.items() <= run.factors.items()] for i, row in enumerate(summary)}
    return best_of_each(
        Entrant(
            row,
            strict_json([row.track, *(value for factor, value in row.factors.items() if of_problem(factor))]),
            {run.factors.get(SEED): run.accuracy for run in groups[i] if run.accuracy is not None},
            groups[i][0].test_images,
        )
        for i, row in enumerate(summary)
        if groups[i]
    )


def of_problem(factor: str) -> bool:
    return factor.split(".", maxsplit=1)[0] in PROBLEM
