"""One experiment: a frozen tree that says everything, and the hash of all that can change its result."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from mooring.anchors import ANCHORS, Anchor
from mooring.client import Training
from mooring.config.build import NOTHING, Builder, Slot, imported, type_hints
from mooring.config.tree import INHERITED, Tree, merge, read_file, read_overrides, to_tree
from mooring.data.catalogue import SOURCES
from mooring.data.digits import Digits
from mooring.data.images import Source
from mooring.data.partition import PARTITIONERS, Dirichlet, Partitioner
from mooring.engines import ENGINES, Engine, Local
from mooring.errors import ConfigError, nearest
from mooring.fusion import FUSIONS, Fusion
from mooring.losses import LOSSES, LossTerm
from mooring.methods import METHODS, Method
from mooring.models.backbones import BACKBONES, Backbone, DigitsNet, ResNet8
from mooring.models.heads import HEADS, Head
from mooring.weighting import WEIGHTINGS, Weighting

SLOTS: dict[type, Slot] = {
    Source: Slot("source", SOURCES),
    Partitioner: Slot("kind", PARTITIONERS),
    Backbone: Slot("kind", BACKBONES),
    Head: Slot("kind", HEADS),
    LossTerm: Slot("kind", LOSSES),
    Anchor: Slot("kind", ANCHORS),
    Weighting: Slot("kind", WEIGHTINGS),
    Fusion: Slot("kind", FUSIONS),
    Engine: Slot("kind", ENGINES),
}
DEFAULT_MODELS: dict[str, Backbone] = {"digits": DigitsNet()}  # every other source: ResNet8
DEFAULT_METHOD = "v7"
CUSTOM = "custom"  # the name of a method that is written out as a tree


@dataclass(frozen=True)
class Experiment:
    """What is learned from, by whom, how, and with which seeds. `engine` and `out` never change a result."""

    data: Source = field(default_factory=Digits)
    partition: Partitioner = field(default_factory=Dirichlet)
    model: Backbone = field(default_factory=DigitsNet)
    training: Training = field(default_factory=Training)
    method: Method = field(default_factory=lambda: METHODS[DEFAULT_METHOD])
    engine: Engine = field(default_factory=Local, compare=False)
    seed: int = 1
    out: str | None = field(default=None, compare=False)
    name: str = field(default=DEFAULT_METHOD, compare=False)  # of the method

    def tree(self) -> Tree:
        """The full tree; reading it again gives this experiment."""
        tree: Tree = to_tree(self)
        tree["method"] = {"name": self.name, **tree["method"]}
        return tree | {"engine": to_tree(self.engine), "out": self.out}

    def fingerprint(self) -> str:
        """SHA-256 of everything that influences the result: not the engine, not the folder, not names."""
        return sha256(json.dumps(to_tree(self), sort_keys=True).encode()).hexdigest()

    @property
    def split_seed(self) -> int:
        return self.seed if self.partition.seed is None else self.partition.seed

    @property
    def title(self) -> str:
        return f"{self.data.source}-{self.name}-{self.fingerprint()[:8]}"


def load(file: Path | None = None, overrides: Iterable[str] = ()) -> list[Experiment]:
    """The experiments of a file and `key=value` overrides on top of it: one for each method they name."""
    return parse(merge(read_file(file) if file else {}, read_overrides(overrides)))


def parse(tree: Tree) -> list[Experiment]:
    """One experiment per method; a key is idle only if no method reads it. All problems at once."""
    rest = {key: value for key, value in tree.items() if key != "method"}
    outcomes = [_build(rest, method) for method in _methods(tree.get("method", DEFAULT_METHOD))]
    idle = set.intersection(*({path for path, unknown, _ in problems if unknown} for _, problems in outcomes))
    told = [message for _, problems in outcomes for path, unknown, message in problems if not unknown or path in idle]
    if told:
        raise ConfigError(dict.fromkeys(told))
    return [experiment for experiment, _ in outcomes]


def named_method(name: str) -> Method:
    """A method of the house, or a user's own as `package.module:NAME`."""
    if name in METHODS:
        return METHODS[name]
    if ":" in name:
        method = imported(name)
        if isinstance(method, Method):
            return method
        raise ConfigError([f"method={name}: is a {type(method).__name__}; it must be a mooring.Method"])
    raise ConfigError([f"method={name}: unknown; {nearest(name, METHODS)}"])


def as_yaml(tree: Any) -> str:
    """A tree as people read it."""
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=120)


def _methods(given: Any) -> list[Tree]:
    """`v7`, `v4,v7`, a list of both, or a tree: as trees. A mapping with several names is several trees."""
    if isinstance(given, list) and given:
        return [method for part in given for method in _methods(part)]
    if isinstance(given, dict):
        names = _methods(given["name"]) if isinstance(given.get("name"), str | list) else [{}]
        return [{**given, **name} for name in names]
    if not isinstance(given, str) or not given.strip(", "):
        raise ConfigError([f"method={given}: must be a name, a list of names or a tree; {nearest('', METHODS)}"])
    return [{"name": name.strip()} for name in given.split(",") if name.strip()]


def _build(rest: Tree, method: Tree) -> tuple[Experiment, list[tuple[str, bool, str]]]:
    """One experiment and what is wrong with it."""
    builder = Builder(SLOTS)
    known = [f.name for f in fields(Experiment) if f.name != "name"] + ["fusion"]
    for key in rest.keys() - set(known):
        builder.note(str(key), rest[key], f"unknown key; {nearest(str(key), known)}")
    built: Tree = {}
    written_out = isinstance(method.get("client"), dict) and isinstance(method["client"].get("terms"), list)
    name = method.get("name", CUSTOM if written_out else DEFAULT_METHOD)
    if "fusion" in rest:
        method = merge(method, {"fusion": rest["fusion"]})
    parts = {key: value for key, value in method.items() if key not in ("name", INHERITED)}
    try:
        base = NOTHING if name == CUSTOM else named_method(name)
        built["method"] = builder.build(Method, parts, base, "method")
    except ConfigError as error:
        builder.problems += [("method", False, problem) for problem in error.problems]
    hints = type_hints(Experiment)
    for key in ("data", "partition", "training", "engine", "seed", "out"):
        built[key] = builder.build(hints[key], rest.get(key, NOTHING), getattr(DEFAULTS, key), key)
    usual = DEFAULT_MODELS.get("" if built["data"] is NOTHING else built["data"].source, ResNet8())
    built["model"] = builder.build(Backbone, rest.get("model", NOTHING), usual, "model")
    if builder.failed():
        return DEFAULTS, builder.problems
    experiment = Experiment(**built, name=name)
    builder.problems += [(path, False, message) for path, message in impossible(experiment)]
    return experiment, builder.problems


def impossible(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Values that are fine alone and make no sense together."""
    training = experiment.training
    if not isinstance(training.snapshots, str):
        for round_ in training.snapshots:
            if round_ >= training.rounds:
                yield (
                    "training.snapshots",
                    f"training.snapshots={list(training.snapshots)}: round {round_} does not exist; "
                    f"rounds are 0 to {training.rounds - 1}, or raise training.rounds",
                )


DEFAULTS = Experiment()
