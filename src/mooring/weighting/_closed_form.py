"""The equilibrium itself, without learning it."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from annotated_types import Ge, Lt
from torch import Generator

from mooring.schedules import ScheduleName, at
from mooring.schema import Checked, Doc, NonNegative, Positive
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, Equilibrium, LambdaBounds, MovingAverage, pull
from mooring.weighting._equilibrium import clamped


@dataclass(frozen=True)
class ClosedForm(Checked):
    """lambda = clip( s(p) EMA(L_b) / max(EMA(L_a), eps), lmin, lmax ): no scalars, no relaxation, bounded for ever."""

    kind: ClassVar[str] = "closed-form"
    schedule: Annotated[ScheduleName, Doc("schedule of lambda")] = "linear"
    minimum: Annotated[NonNegative, Doc("smallest lambda")] = 0.0
    maximum: Annotated[Positive, Doc("largest lambda")] = 50.0
    eps: Annotated[Positive, Doc("smallest alignment loss in the denominator")] = 1e-3
    memory: Annotated[float, Ge(0), Lt(1), Doc("decay of the moving averages")] = 0.95

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return ClosedFormBalancer(self)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium:
        raw = local / max(align, self.eps)
        return Equilibrium(raw, clamped(at(self.schedule, progress) * raw, self.minimum, self.maximum))

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return LambdaBounds(self.maximum, bounded=True, guard="bound", cap=lambda local, progress: self.maximum)


class ClosedFormBalancer(Balancer):
    """Moving averages of both losses."""

    def __init__(self, rule: ClosedForm) -> None:
        super().__init__()
        self.rule = rule
        self.averages = MovingAverage(rule.memory, 2)

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        rule = self.rule
        local, align = self.averages(torch.stack([losses.local, losses.align]).detach())
        raw = local / align.clamp(min=rule.eps)
        s = at(rule.schedule, progress)
        return pull(raw, (s * raw).clamp(rule.minimum, rule.maximum), s)
