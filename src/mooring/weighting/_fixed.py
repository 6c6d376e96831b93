"""Weights that are known before training: a constant, one number per client, or a curve over the progress."""

from dataclasses import dataclass
from math import log2
from typing import Annotated, ClassVar, Literal

import torch
from torch import Generator, Tensor, tensor

from mooring.schema import Checked, Doc, NonNegative
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, Equilibrium, LambdaBounds, pull


@dataclass(frozen=True)
class Fixed(Checked):
    """lambda = value (V7: 5)."""

    kind: ClassVar[str] = "fixed"
    value: Annotated[NonNegative, Doc("lambda, the weight of the alignment loss")] = 5.0

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return ConstantBalancer(self.value)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium:
        return Equilibrium(self.value, self.value)

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return LambdaBounds(self.value, bounded=True)


class ConstantBalancer(Balancer):
    """A lambda that never moves."""

    lam: Tensor

    def __init__(self, lam: float) -> None:
        super().__init__()
        self.register_buffer("lam", tensor(lam))

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        return pull(self.lam, self.lam)


@dataclass(frozen=True)
class ByEntropy(Checked):
    """lambda_k = lmin + H_k / log2 C (lmax - lmin), H_k the entropy of the client's labels in bits (V9)."""

    kind: ClassVar[str] = "by-entropy"
    minimum: Annotated[NonNegative, Doc("lambda of a client with one label")] = 0.1
    maximum: Annotated[NonNegative, Doc("lambda of a client with balanced classes")] = 10.0

    def value(self, facts: ClientFacts) -> float:
        return self.minimum + evenness(facts.label_counts) * (self.maximum - self.minimum)

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return ConstantBalancer(self.value(facts))

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium:
        return Equilibrium(self.value(facts), self.value(facts))

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return LambdaBounds(self.value(facts), bounded=True)


def evenness(label_counts: tuple[int, ...]) -> float:
    """H / log2 C, in [0, 1]; 0 for a single class and for no data at all."""
    if len(label_counts) < 2:
        return 0.0
    total = sum(label_counts)
    shares = [count / total for count in label_counts if count]
    return abs(sum(p * log2(p) for p in shares)) / log2(len(label_counts))


@dataclass(frozen=True)
class Ramp(Checked):
    """lambda = initial + (final - initial) p (note 1, plan 1).

    `over` the whole training (sound) or within each round, as the note prints it: (epoch - first) / local_epochs.
    """

    kind: ClassVar[str] = "ramp"
    initial: Annotated[NonNegative, Doc("lambda at the start")] = 0.1
    final: Annotated[NonNegative, Doc("lambda at the end")] = 1.0
    over: Annotated[Literal["training", "round"], Doc("the ramp covers the training, or each `round`")] = "training"

    def value(self, progress: Progress) -> float:
        p = progress.overall if self.over == "training" else progress.epoch / progress.local_epochs
        return self.initial + (self.final - self.initial) * p

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return RampBalancer(self)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium:
        return Equilibrium(self.value(progress), self.value(progress))

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return LambdaBounds(max(self.initial, self.final), bounded=True)


class RampBalancer(Balancer):
    def __init__(self, rule: Ramp) -> None:
        super().__init__()
        self.rule = rule

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        lam = torch.tensor(self.rule.value(progress))
        return pull(lam, lam)
