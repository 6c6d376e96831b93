"""A search in a sweep file: its settings, their ranges, and the number of trials."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from random import Random
from typing import Annotated, Any, Literal

from annotated_types import MinLen

from mooring.errors import ConfigError
from mooring.schema import Builder, Count, Seed, Tree, shorten

MOST_TRIALS = 5_000  # of one search


@dataclass(frozen=True)
class Span:
    """Numbers between `low` and `high`, spread evenly or, with `log`, evenly in their logarithm."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if self.low >= self.high or (self.log and self.low <= 0):
            raise ConfigError(["low must be below high, and above 0 with log"])

    def draw(self, rng: Random) -> float:
        if self.log:
            return exp(rng.uniform(log(self.low), log(self.high)))
        return rng.uniform(self.low, self.high)

    def holds(self, value: object) -> bool:
        """Could it have been drawn, but for the last digit?"""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        slack = 1e-9 * max(abs(self.low), abs(self.high))
        return number and self.low - slack <= value <= self.high + slack  # type: ignore[operator]


@dataclass(frozen=True)
class Choice:
    """One of these values."""

    values: Annotated[tuple[Any, ...], MinLen(1)]

    def draw(self, rng: Random) -> Any:
        return rng.choice(self.values)

    def holds(self, value: object) -> bool:
        return value in self.values


@dataclass(frozen=True)
class Search:
    """`random`: all trials are drawn at once; `tpe`: Optuna's sampler proposes each trial from the results so far.

    `pruner: halving`: after every seed the better half of the trials that were proposed together goes on.
    """

    trials: Count
    space: dict[str, Span | Choice]
    kind: Literal["random", "tpe"] = "random"
    seed: Seed = 1
    pruner: Literal["none", "halving"] = "none"

    def __post_init__(self) -> None:
        if not self.space:
            raise ConfigError(["space must name at least one key, for example training.lr: {low: 0.01, high: 0.1}"])

        if self.trials > MOST_TRIALS:
            raise ConfigError([f"trials={shorten(self.trials)}: are too many; at most {MOST_TRIALS:,} are one search"])

    def drawn(self) -> tuple[dict[str, Any], ...]:
        rng = Random(self.seed)
        return tuple({key: place.draw(rng) for key, place in self.space.items()} for _ in range(self.trials))

    def holds(self, trial: Mapping[str, object]) -> bool:
        """Is it a point of the space?"""
        return trial.keys() == self.space.keys() and all(self.space[key].holds(value) for key, value in trial.items())


def search_of(tree: Any, origin: str) -> Search | None:
    """The search that a sweep file describes; `origin` names the file in errors."""
    if tree is None:
        return None
    builder = Builder()
    search: Search = builder.build(Search, tree, path="search")
    if builder.problems:
        raise ConfigError(f"{origin}: {problem.message}" for problem in builder.problems)
    return search


def search_tree(search: Search | None) -> Tree | None:
    """What a sweep file says of it."""
    if search is None:
        return None
    space: Tree = {}
    for key, place in search.space.items():
        space[key] = (
            list(place.values)
            if isinstance(place, Choice)
            else {"low": place.low, "high": place.high, "log": place.log}
        )
    pruner = {} if search.pruner == "none" else {"pruner": search.pruner}
    return {"kind": search.kind, "trials": search.trials, "seed": search.seed, **pruner, "space": space}
