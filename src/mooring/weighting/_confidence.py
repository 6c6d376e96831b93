"""A weight that grows as the task is learned: note 1, plan 2."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import torch
from annotated_types import Ge, Lt
from torch import Generator, Tensor

from mooring.schema import ADDED_LATER, Checked, Doc, NonNegative
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, LambdaBounds, MovingAverage, pull


@dataclass(frozen=True)
class ByConfidence(Checked):
    """lambda = lmin + (lmax - lmin) clip(1 - EMA(L) / L(start), 0, 1): it grows as the task is learned.

    L is the loss it `watches`: `cross-entropy`, the classification loss of the note, or `base`, all of L_b.
    """

    kind: ClassVar[str] = "by-confidence"
    minimum: Annotated[NonNegative, Doc("lambda at the initial value of the watched loss")] = 0.1
    maximum: Annotated[NonNegative, Doc("lambda when the watched loss reaches 0")] = 1.0
    memory: Annotated[float, Ge(0), Lt(1), Doc("decay of the moving average")] = 0.95
    watches: Annotated[
        Literal["base", "cross-entropy"],
        Doc("the watched loss: the base loss, or its `cross-entropy` (note 1)"),
    ] = field(default="base", metadata={ADDED_LATER: True})

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return ConfidenceBalancer(self)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> None:
        return None  # depends on where the loss began

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return LambdaBounds(max(self.minimum, self.maximum), bounded=True)


class ConfidenceBalancer(Balancer):
    """The first value of the loss it watches, and its moving average."""

    first: Tensor

    def __init__(self, rule: ByConfidence) -> None:
        super().__init__()
        self.rule = rule
        self.average = MovingAverage(rule.memory, 1)
        self.register_buffer("first", torch.zeros(()))

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        rule = self.rule
        now = (losses.local if rule.watches == "base" else losses.terms[rule.watches]).detach()
        self.first = torch.where(self.first > 0, self.first, now)
        (average,) = self.average(now[None])
        confidence = (1 - average / self.first.clamp(min=1e-12)).clamp(0, 1)
        lam = rule.minimum + (rule.maximum - rule.minimum) * confidence
        return pull(lam, lam)
