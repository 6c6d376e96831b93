"""Looking without touching: do the two tasks agree?"""

from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Generator

from mooring.bounds import Checked
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting.base import Balancer, Outlook, Stationary, Weighting
from mooring.weighting.fixed import Fixed
from mooring.weighting.gradients import cosine, embedding_gradients


@dataclass(frozen=True)
class Probed(Checked):
    """Any weighting, with the cosine between the two tasks' gradients at the embedding in the log."""

    kind: ClassVar[str] = "probed"
    base: Weighting = Fixed(1.0)

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return ProbedBalancer(self.base.start(facts, rng))

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Stationary | None:
        return self.base.stationary(local, align, progress, facts)

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> Outlook:
        return self.base.outlook(facts, lr, momentum, largest_local)


class ProbedBalancer(Balancer):
    def __init__(self, base: Balancer) -> None:
        super().__init__()
        self.base = base

    def rate(self, model_lr: float) -> float:
        return self.base.rate(model_lr)

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        balanced: Balanced = self.base(losses, progress)
        probe = {"gradient_cosine": cosine(*embedding_gradients(losses))}
        return replace(balanced, measured={**balanced.measured, **probe})
