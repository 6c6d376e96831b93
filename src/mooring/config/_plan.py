"""A sweep before it runs: what all its runs share, and what varies."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from mooring.config._experiment import Experiment
from mooring.config._keys import (
    may_mean_same,
    merge_layers,
    normalise,
    override_value,
    read_overrides,
    reject_duplicates,
    tree_of_key,
)
from mooring.config._parse import parse
from mooring.config._search import Search, search_of, search_tree
from mooring.config._tree import as_yaml, read_file
from mooring.config._trust import ALL_CODE, Trust
from mooring.errors import ConfigError
from mooring.schema import Tree, shorten

RANGE = re.compile(r"(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})")
MOST_RUNS = 5_000  # of one sweep; its file holds every value
SEED = "seed"
FILE_KEYS = ("experiment", "settings", "factors", "baseline", "search")
Point = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """Every combination of the factors' values, on top of `experiment` and `settings`.

    `baseline`, such as `method=v4`: the value that the other values of its factor are compared with.
    """

    settings: tuple[str, ...] = ()
    factors: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    baseline: str | None = None
    experiment: Tree = field(default_factory=dict)
    search: Search | None = None
    trials: tuple[Point, ...] = ()  # of the search so far
    seeds_of_trials: tuple[int, ...] = ()  # how many of the seeds each trial runs; empty: all of them
    trust: Trust = field(default=ALL_CODE, compare=False)  # whose code it may name

    def points(self) -> list[Point]:
        runs = prod(map(len, self.factors.values())) * (self.search.trials if self.search else 1)
        if runs > MOST_RUNS:
            raise ConfigError(
                [f"factors: are {approximately(runs)} runs; at most {MOST_RUNS:,} are one sweep, vary less"]
            )
        grid = [dict(zip(self.factors, values, strict=True)) for values in product(*self.factors.values())]
        if self.search is None:
            return grid
        most = self.seeds_of_trials or (len(self.seeds),) * len(self.trials)
        return [
            trial | point
            for trial, seeds in zip(self.trials, most, strict=True)
            for point in grid
            if point.get(SEED) in self.seeds[:seeds]
        ]

    @property
    def seeds(self) -> tuple[Any, ...]:
        """The values of the factor `seed`."""
        return self.factors.get(SEED, (None,))

    @property
    def varied(self) -> list[str]:
        """What distinguishes one run from another, searched settings first."""
        return [*(self.search.space if self.search else ()), *self.factors]

    def tree_at(self, point: Point) -> Tree:
        tree = merge_layers(normalise(self.experiment), read_overrides(self.settings))
        for key, value in point.items():
            tree = merge_layers(tree, tree_of_key(key, value))
        return tree

    def experiment_at(self, point: Point) -> Experiment:
        named = [name for name in self.factors.get("method", ()) if isinstance(name, str)]
        experiments = parse(self.tree_at(point), self.trust, beside=named)
        if len(experiments) > 1:
            raise ConfigError(["method: several methods are a factor of a sweep; write them under factors"])
        return experiments[0]

    def tree(self) -> Tree:
        """What `sweep.yaml` says; reading it again gives this plan."""
        return {
            "experiment": self.experiment,
            "settings": list(self.settings),
            "factors": {key: list(values) for key, values in self.factors.items()},
            "baseline": self.baseline,
            "search": search_tree(self.search),
        }

    def identity(self) -> str:
        """All that its runs depend on; what they are compared with can be said afterwards."""
        return as_yaml(replace(self, baseline=None).tree())


def load_plan(
    file: Path | None = None, words: Iterable[str] = (), baseline: str | None = None, trust: Trust = ALL_CODE
) -> Plan:
    """A sweep file or an experiment file, and `key=value` words; a word with several values is a factor."""
    tree = read_file(file) if file else {}
    plan = plan_of(tree, str(file)) if {"factors", "search"} & tree.keys() else Plan(experiment=tree)
    settings, factors = list(plan.settings), dict(plan.factors)
    for word in reject_duplicates(words):
        key, _, text = word.partition("=")
        values = parse_values(text, key)
        factors = {other: given for other, given in factors.items() if other == key or not may_mean_same(other, key)}
        if len(values) > 1:
            factors[key] = values
        else:
            factors.pop(key, None)
            settings.append(word)
    chosen = Plan(tuple(settings), factors, baseline or plan.baseline, plan.experiment, plan.search, trust=trust)
    check_plan(chosen)
    return replace(chosen, baseline=baseline_text(chosen))


def plan_of(tree: Tree, origin: str) -> Plan:
    """A sweep file's own words, checked."""
    problems = [f"{origin}: {key}: unknown; valid: {', '.join(FILE_KEYS)}" for key in tree if key not in FILE_KEYS]
    settings, factors = tree.get("settings") or [], tree.get("factors") or {}
    if not (isinstance(settings, list) and all(isinstance(word, str) for word in settings)):
        problems.append(f"{origin}: settings: must be a list of key=value words")
    if not (isinstance(factors, dict) and all(isinstance(values, list) and values for values in factors.values())):
        problems.append(f"{origin}: factors: must map keys to lists of values, for example seed: [1, 2, 3]")
    if not isinstance(tree.get("baseline"), str | None):
        problems.append(f"{origin}: baseline={tree['baseline']}: must be key=value, for example method=v4")
    if problems:
        raise ConfigError(problems)
    experiment = tree.get("experiment") or {}
    if isinstance(experiment, str):
        experiment = read_file(Path(origin).parent / experiment)
    varied = {key: tuple(values) for key, values in factors.items()}
    return Plan(tuple(settings), varied, tree.get("baseline"), experiment, search_of(tree.get("search"), origin))


def check_plan(plan: Plan) -> None:
    """Every mistake of every run, before anything runs."""
    problems: dict[str, None] = {}
    if any(key == "out" for key in plan.factors):
        problems["out: cannot vary; a sweep has one folder"] = None
    for key, values in plan.factors.items():
        repeated = [value for i, value in enumerate(values) if value in values[:i]]
        problems |= {f"{key}={shorten(value)}: is given twice; write every value once": None for value in repeated}
    first = {} if plan.search is None else plan.search.drawn()[0]
    plan.points()  # rejects too many
    grid = replace(plan, search=None).points()
    if plan.search is not None and plan.search.pruner != "none" and len(plan.seeds) < 2:
        problems["search.pruner: stops trials between seeds; write seed: [1, 2, 3] under factors"] = None
    for point in grid:
        try:
            experiment = plan.experiment_at(first | point)
            if plan.search is not None and not experiment.data.validation:
                problems["search: needs validation images to judge by; set data.validation=0.1"] = None
        except ConfigError as error:
            problems |= dict.fromkeys(error.problems)
    if plan.baseline is not None and baseline_text(plan) is None:
        varied = ", ".join(f"{key}={value}" for key, values in plan.factors.items() for value in values)
        problems[f"baseline={plan.baseline}: is not a value of a factor; valid: {varied}"] = None
    if problems:
        raise ConfigError(problems)


def baseline_text(plan: Plan) -> str | None:
    """The baseline as tables write it: `partition.alpha=5e-2` -> `partition.alpha=0.05`; None if no factor has it."""
    key, _, text = (plan.baseline or "").partition("=")
    meant = [value for value in plan.factors.get(key, ()) if str(value) == text or value == override_value(key, text)]
    return f"{key}={meant[0]}" if meant else None


def approximately(count: int) -> str:
    return f"{count:,}" if count < 10**9 else "billions of"


def parse_values(text: str, key: str) -> tuple[Any, ...]:
    """`1..3` -> 1, 2, 3;  `a,b` -> a, b;  commas within brackets belong to one value."""
    span = RANGE.fullmatch(text.strip())
    if span:
        first, last = map(int, span.groups())
        if last < first:
            raise ConfigError([f"{key}={text}: runs backwards; write {last}..{first}"])
        if last - first >= MOST_RUNS:
            raise ConfigError([f"{key}={text}: are {last - first + 1:,} values; at most {MOST_RUNS:,} are one sweep"])
        return tuple(range(first, last + 1))
    return tuple(override_value(key, part) for part in parts_of(text)) or (None,)


def parts_of(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            yield text[start:i]
            start = i + 1
    if text[start:].strip():
        yield text[start:]
