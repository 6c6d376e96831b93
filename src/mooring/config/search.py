"""A search in a sweep file: which settings are looked for, where, and how many are tried."""

from dataclasses import dataclass, field
from math import exp, log
from random import Random
from typing import Any

from mooring.config.tree import Tree
from mooring.errors import ConfigError

KINDS = ("random", "tpe")
KEYS = ("kind", "trials", "seed", "space")
SPAN_KEYS = ("low", "high", "log")


@dataclass(frozen=True)
class Span:
    """Numbers between `low` and `high`, spread evenly or, with `log`, evenly in their logarithm."""

    low: float
    high: float
    log: bool = False

    def draw(self, rng: Random) -> float:
        if self.log:
            return exp(rng.uniform(log(self.low), log(self.high)))
        return rng.uniform(self.low, self.high)


@dataclass(frozen=True)
class Choice:
    """One of these values."""

    values: tuple[Any, ...]

    def draw(self, rng: Random) -> Any:
        return rng.choice(self.values)


@dataclass(frozen=True)
class Search:
    """`random`: drawn all at once; `tpe`: Optuna's sampler proposes after it has seen what came before."""

    kind: str
    trials: int
    space: dict[str, Span | Choice]
    seed: int = 1

    def drawn(self) -> tuple[dict[str, Any], ...]:
        rng = Random(self.seed)
        return tuple({key: place.draw(rng) for key, place in self.space.items()} for _ in range(self.trials))


@dataclass
class _Reader:
    """Collects what is wrong with a search, all of it."""

    origin: str
    problems: list[str] = field(default_factory=list)

    def search(self, tree: Any) -> Search | None:
        if not isinstance(tree, dict):
            self.tell("", tree, "must be a mapping with trials and space")
            return None
        for key in tree.keys() - set(KEYS):
            self.tell(key, tree[key], f"unknown; valid: {', '.join(KEYS)}")
        kind, trials, seed = tree.get("kind", "random"), tree.get("trials"), tree.get("seed", 1)
        if kind not in KINDS:
            self.tell("kind", kind, f"unknown; valid: {', '.join(KINDS)}")
        if not isinstance(trials, int) or trials < 1:
            self.tell("trials", trials, "must be a whole number above 0")
            return None
        if not isinstance(seed, int):
            self.tell("seed", seed, "must be a whole number")
        space = tree.get("space")
        if not isinstance(space, dict) or not space:
            self.tell("space", space, "must map keys to {low, high} or to a list of values")
            return None
        places = {str(key): self.place(str(key), value) for key, value in space.items()}
        return None if self.problems else Search(kind, trials, {k: p for k, p in places.items() if p is not None}, seed)

    def place(self, key: str, value: Any) -> Span | Choice | None:
        if isinstance(value, list) and value:
            return Choice(tuple(value))
        if not isinstance(value, dict) or value.keys() - set(SPAN_KEYS) or not {"low", "high"} <= value.keys():
            self.tell(f"space.{key}", value, "must be a list of values, or {low: 0.1, high: 10, log: true}")
            return None
        low, high, logarithmic = value["low"], value["high"], bool(value.get("log", False))
        if not all(isinstance(end, int | float) for end in (low, high)) or low >= high or (logarithmic and low <= 0):
            self.tell(f"space.{key}", value, "low must be below high, and above 0 with log")
            return None
        return Span(float(low), float(high), logarithmic)

    def tell(self, key: str, value: Any, problem: str) -> None:
        self.problems.append(f"{self.origin}: search{'.' if key else ''}{key}={value}: {problem}")


def search_of(tree: Any, origin: str) -> Search | None:
    if tree is None:
        return None
    reader = _Reader(origin)
    search = reader.search(tree)
    if reader.problems:
        raise ConfigError(reader.problems)
    return search


def as_tree(search: Search | None) -> Tree | None:
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
    return {"kind": search.kind, "trials": search.trials, "seed": search.seed, "space": space}
