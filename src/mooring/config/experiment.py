"""One experiment: a frozen tree that says everything, and the hash of all that can change its result."""

import json
from dataclasses import dataclass, field
from hashlib import sha256

from mooring.bounds import Checked
from mooring.client import Training
from mooring.config.tree import Tree, to_tree
from mooring.data.digits import Digits
from mooring.data.images import Source
from mooring.data.partition import Dirichlet, Partitioner
from mooring.engines import Engine, Local
from mooring.methods import METHODS, Method
from mooring.models.backbones import Backbone, DigitsNet

DEFAULT_METHOD = "v7"


@dataclass(frozen=True)
class Experiment(Checked):
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
