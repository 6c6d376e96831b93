"""A weight that grows with progress: curriculum."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from torch import Generator

from mooring.schema import Checked, Doc, NonNegative
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, Equilibrium, LambdaBounds, pull


@dataclass(frozen=True)
class Ramp(Checked):
    """lambda = initial + (final - initial) p (note 1, plan 1).

    `over` the whole training (sound) or within each round, as the note prints it: (epoch - first) / local_epochs.
    """

    kind: ClassVar[str] = "ramp"
    initial: Annotated[NonNegative, Doc("first lambda")] = 0.1
    final: Annotated[NonNegative, Doc("last lambda")] = 1.0
    over: Annotated[
        Literal["training", "round"], Doc("of what it is a ramp; `round`: it starts again in every round")
    ] = "training"

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
