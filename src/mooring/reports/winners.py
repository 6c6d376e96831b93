"""Who is best, and is that settled? Experiments compete on the same data and partition, pair by pair of seeds."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from mooring.reports.accuracies import mean_accuracy
from mooring.reports.book import Book, Run, SeedGroup
from mooring.sweep.summary import Difference, difference

RULE = (
    "Bold only where it is settled: the 95 % interval of the difference to every other experiment on the same data, "
    "paired by seed, excludes 0 (Student's t)"
)


@dataclass(frozen=True)
class Contest:
    """Experiments on one problem; `against` is the best one's difference to each of the others."""

    best: SeedGroup
    against: tuple[tuple[SeedGroup, Difference], ...]

    @property
    def settled(self) -> bool:
        return all(told.low is not None and told.low > 0 for _, told in self.against)

    @property
    def nearest(self) -> tuple[SeedGroup, Difference]:
        """The other one that comes closest, the first that is not surely worse."""
        unsure = [pair for pair in self.against if pair[1].low is None or pair[1].low <= 0]
        return min(unsure or self.against, key=lambda pair: pair[1].mean if pair[1].mean is not None else 1.0)


def contests(book: Book) -> tuple[Contest, ...]:
    """One for every problem that several experiments have met."""
    by_problem: dict[str, list[SeedGroup]] = {}
    for group in book.lines:
        by_problem.setdefault(problem(group.first), []).append(group)
    return tuple(contest(groups) for groups in by_problem.values() if len(groups) > 1)


def contest(groups: list[SeedGroup]) -> Contest:
    best = max(groups, key=mean_accuracy)
    against = ((other, difference(paired(best, other))) for other in groups if other is not best)
    return Contest(best, tuple(against))


def paired(one: SeedGroup, other: SeedGroup) -> list[float]:
    """Differences between runs of the same seeds; a pair is two runs on the same partition of the same data."""
    partners = {seeds(run): run.result.accuracy for run in other.runs}
    return [run.result.accuracy - partners[seeds(run)] for run in one.runs if seeds(run) in partners]


def seeds(run: Run) -> tuple[int | None, int | None]:
    return run.result.seeds.training, run.result.seeds.split


def problem(run: Run) -> str:
    """What experiments must share to be compared: the sweep of a study, the data, how they are divided."""
    partition = {key: value for key, value in (run.tree.get("partition") or {}).items() if key != "seed"}
    return json.dumps([run.sweep, run.dataset, run.tree.get("data"), partition], sort_keys=True, default=str)


def settled(found: Iterable[Contest]) -> set[str]:
    """The labels of those that have won."""
    return {one.best.label for one in found if one.settled}
