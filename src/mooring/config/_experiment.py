"""One experiment: a frozen value with all settings, the hash of those that can change its result, and its client job.

Paths become absolute when they are read, so that a run can be opened from any folder.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import torch

from mooring.client import ClientJob, Engine, Training
from mooring.config._features import as_labelled, choose_features, usual, with_views
from mooring.config._label import MethodLabel, changes, folder_name
from mooring.config._part_kinds import usual_engine
from mooring.config._trust import ALL_CODE, Trust
from mooring.config._user_parts import described, import_object
from mooring.data import Digits, Dirichlet, Partitioner, Source
from mooring.errors import ConfigError, nearest
from mooring.fusion import FeatureEnsemble
from mooring.methods import METHODS, Method
from mooring.models import Backbone, Blueprint, DigitsNet
from mooring.schema import (
    ADDED_LATER,
    Checked,
    Count,
    Doc,
    Either,
    Null,
    Seed,
    Text,
    Tree,
    hashed_fields,
    shape_of,
    to_tree,
    type_hints,
)
from mooring.uploads import expected_of

T = TypeVar("T")
PATH = Text(is_path=True)
Change = Callable[[str, str | None], str | None]  # key, path -> path
DEFAULT_METHOD = "mooring"
FEWEST = 100  # test images that a client is evaluated on, however many clients there are


def with_paths(value: T, change: Change, key: str = "") -> T:
    """The value with every path that its fields declare as `FilePath` changed, however deep it lies."""
    if not is_dataclass(value) or isinstance(value, type):
        return value
    hints, changed = type_hints(type(value)), {}
    for f in fields(value):
        old, name = getattr(value, f.name), f"{key}.{f.name}".lstrip(".")
        new = change(name, old) if is_path(hints[f.name]) else _within(old, change, name)
        if new != old:
            changed[f.name] = new
    return replace(value, **changed) if changed else value


def _within(value: Any, change: Change, key: str) -> Any:
    if isinstance(value, tuple):
        return tuple(with_paths(part, change, f"{key}.{i}") for i, part in enumerate(value))
    return with_paths(value, change, key)


def is_path(hint: Any) -> bool:
    """Does the field hold a path, or null?"""
    return shape_of(hint) in (PATH, Either((PATH, Null())))


def absolute(path: str) -> str:
    """As seen from the current folder."""
    try:
        return str(Path(path).expanduser().absolute())
    except RuntimeError:  # ~someone without a home: reported when the path is used
        return path


@dataclass(frozen=True)
class ClientEvaluation(Checked):
    """After which rounds every client is evaluated by itself, and on how many test images at most.

    Where the clients take part in every prediction of the fused model, what they reach alone costs nothing, and is
    recorded for every round and all images.
    """

    clients: Annotated[
        Literal["none", "last", "all"],
        Doc("rounds after which every client is evaluated"),
    ] = "last"
    images: Annotated[
        Count,
        Doc("most test images per client, stratified; the same for all clients, runs and seeds"),
    ] = 2000
    passes: Annotated[Count, Doc("most images of all clients together; each gets at least 100")] = 10_000

    def images_at(self, round_: int, last: int, clients: int) -> int:
        """How many test images each of so many clients is shown after this round; none: 0."""
        asked = self.clients == "all" or (self.clients == "last" and round_ == last)
        return min(self.images, max(FEWEST, self.passes // clients)) if asked else 0


@dataclass(frozen=True)
class Experiment(Checked):
    """What is learned from, by whom, how, and with which seeds. `engine` and `out` never change a result.

    >>> from mooring import load
    >>> [experiment] = load(overrides=["method=v7", "seed=3"])
    >>> experiment.name, experiment.seed, experiment.training.rounds
    ('v7', 3, 10)
    """

    data: Annotated[Source, Doc("the source of the images")] = field(default_factory=Digits)
    partition: Annotated[Partitioner, Doc("how images are divided among clients")] = field(default_factory=Dirichlet)
    model: Annotated[Backbone, Doc("the network; `resnet8` for every source but `digits`")] = field(
        default_factory=DigitsNet
    )
    training: Annotated[Training, Doc("rounds, epochs and optimiser of a client")] = field(default_factory=Training)
    method: Method = field(default_factory=lambda: METHODS[DEFAULT_METHOD])
    engine: Annotated[Engine, Doc("the engine that runs the clients; does not change results")] = field(
        default_factory=usual_engine, compare=False
    )
    seed: Annotated[Seed, Doc("seed of the training, and of the split by default")] = 1
    evaluate: Annotated[ClientEvaluation, Doc("evaluation of single clients; does not change results")] = field(
        default_factory=ClientEvaluation, metadata={ADDED_LATER: True}
    )
    out: Annotated[str | None, Doc("the run folder; `null`: `runs/<source>-<method>-<fingerprint>`")] = field(
        default=None, compare=False
    )
    name: str = field(default=DEFAULT_METHOD, compare=False)  # of the method
    given: Annotated[dict[str, str | None], Doc("written by Mooring: paths as you wrote them")] = field(
        default_factory=dict, compare=False
    )
    why: Annotated[str, Doc("written by Mooring: reason for the choice of features")] = field(default="", compare=False)

    def __post_init__(self) -> None:
        """What is left open, features and the size of images, is decided before anything is hashed or recorded."""
        super().__post_init__()
        choice = choose_features(self.method, self.data)
        if choice is not None:
            object.__setattr__(self, "method", choice.method)
            object.__setattr__(self, "why", choice.why)
        object.__setattr__(self, "method", with_views(self.method, self.data))
        object.__setattr__(self, "data", self.data.for_size(self.method.pixels))

    def tree(self) -> Tree:
        """The full tree; reading it again, in whatever folder, gives this experiment."""
        there = self.located()
        tree: Tree = to_tree(there)
        tree["method"] = {"name": self.name, **tree["method"]}
        notes = {"given": there.given, "why": self.why}
        kept = {key: note for key, note in notes.items() if note}
        return tree | {"engine": to_tree(self.engine), "out": self.out} | kept

    def fingerprint(self) -> str:
        """SHA-256 of everything that influences the result: not the engine, not the folder, not names.

        Paths count as they were written: the same command has the same fingerprint in every folder.
        """
        return sha256(json.dumps(to_tree(self.written(), hashed_fields), sort_keys=True).encode()).hexdigest()

    def written(self) -> "Experiment":
        """With paths as they were written."""
        return with_paths(self, lambda _, path: self.given.get(path, path) if path else path)

    def located(self) -> "Experiment":
        """With absolute paths; `given` remembers how they were written."""
        given: dict[str, str | None] = {}

        def locate(_: str, path: str | None) -> str | None:
            if not path:
                return path
            there = absolute(path)
            if there != path or path in self.given:
                given[there] = path if there != path else self.given[path]
            return there

        return replace(with_paths(self, locate), given=given)

    @property
    def split_seed(self) -> int:
        return self.seed if self.partition.seed is None else self.partition.seed

    @property
    def changes(self) -> dict[str, str]:
        """Key -> value of what was changed of the named method; nothing for one that is written out."""
        try:
            named = usual(named_method(self.name, ALL_CODE), self.data)
            return changes(as_labelled(named, self.data), as_labelled(self.written().method, self.data))
        except ConfigError:
            return {}  # no such name: a method of its own

    @property
    def called(self) -> MethodLabel:
        """What people call the method: its name, and what was changed of it."""
        return MethodLabel(self.name, self.changes)

    @property
    def label(self) -> str:
        """The same as text: `v7`, or `v7 + fusion=class-expert` where a part of it was changed."""
        return str(self.called)

    @property
    def label_elsewhere(self) -> str:
        """The label as others may read it: files by their name alone, and no path of this machine."""
        return replace(self, method=with_file_names(self.method), given={}).label

    @property
    def title(self) -> str:
        """The name of its folder."""
        return f"{folder_name(f'{self.data.source}-{self.label}')}-{self.fingerprint()[:8]}"


def with_file_names(method: Method) -> Method:
    """Every file by its name alone."""
    return with_paths(method, lambda _, path: path and Path(path).name)


def named_method(name: str, trust: Trust) -> Method:
    """A method of the house, or a user's own as `package.module:NAME`."""
    if name in METHODS:
        return METHODS[name]
    if ":" in name:
        try:
            method = import_object(name, trust)
        except ConfigError as error:
            raise ConfigError([f"method={name}: {problem}" for problem in error.problems]) from None
        if isinstance(method, Method):
            return method
        raise ConfigError([f"method={name}: {described(name, method)}; it must be a mooring.Method"])
    named = [own for own, method in METHODS.items() if name.lower() in known_as(method)]
    remedy = f"did you mean {named[0]!r}?" if named else nearest(name, METHODS, "mooring methods")
    raise ConfigError([f"method={name}: unknown; {remedy}"])


def known_as(method: Method) -> list[str]:
    """Names in its description and source, such as FAFI or FedAvg."""
    words = re.findall(r"[\w-]+", f"{method.about} {method.reference}")
    return [word.lower() for word in words if sum(letter.isupper() for letter in word) > 1]


def job_of(experiment: Experiment, shape: tuple[int, int, int], classes: tuple[str, ...]) -> ClientJob:
    """The client job of all clients; raises an error before training if the model cannot be built."""
    source, method = experiment.data, experiment.method
    blueprint = Blueprint(experiment.model, method.client.head, shape, classes, source.mean, source.std)
    network = blueprint.build(torch.Generator())
    if method.client.align is not None and method.client.align.anchor is not None:
        method.client.align.anchor.build(network.prototypes.detach(), torch.Generator())
    needs = (method.fusion or FeatureEnsemble()).needs  # without a fusion: what it takes to judge a client alone
    expected_of(needs, blueprint)  # a part that cannot be made, such as one of a missing file
    return ClientJob(blueprint, method.client, experiment.training, experiment.seed, source.mirror, needs)
