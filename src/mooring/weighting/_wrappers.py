"""Weightings around any other: faded out from outside, or looked at without touching."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from torch import Generator

from mooring.schedules import ScheduleName, at
from mooring.schema import Checked, Doc
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, Equilibrium, LambdaBounds, Weighting
from mooring.weighting._fixed import Fixed
from mooring.weighting._gradients import cosine, embedding_gradients


@dataclass(frozen=True)
class Annealed(Checked):
    """lambda = s(p) * base: the weights feel the annealed pull, the base rule never learns of it."""

    kind: ClassVar[str] = "annealed"
    base: Annotated[Weighting, Doc("the weighting that is annealed")] = Fixed()
    schedule: Annotated[
        ScheduleName,
        Doc("schedule of the annealing"),
    ] = "linear"

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return AnnealedBalancer(self.base.start(facts, rng), self.schedule)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium | None:
        base = self.base.stationary(local, align, progress, facts)
        return base and Equilibrium(base.raw, at(self.schedule, progress) * base.felt)

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        """The base's, and s(p) <= 1 times its cap: with a base capped at c, lambda is at most s(p) c."""
        base = self.base.outlook(facts, lr, momentum, largest_local)
        cap = base.cap
        if cap is None:
            return base
        return replace(base, cap=lambda local, progress: at(self.schedule, progress) * cap(local, progress))


class AnnealedBalancer(Balancer):
    """The model gets s(p) times the weight; the base's own parameters learn as without annealing."""

    def __init__(self, base: Balancer, schedule: ScheduleName) -> None:
        super().__init__()
        self.base = base
        self.schedule = schedule

    def rate(self, model_lr: float) -> float:
        return self.base.rate(model_lr)

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        base: Balanced = self.base(losses, progress)
        s, own = at(self.schedule, progress), base.own_loss
        if base.w_local.requires_grad or base.w_align.requires_grad:  # it learns through its weights
            own = base.loss(losses.local.detach(), losses.align.detach())
        return Balanced(
            base.w_local.detach(),
            s * base.w_align.detach(),
            own,
            base.lambda_raw,
            s * base.lambda_felt,
            s * base.schedule_factor,
            base.measured,
        )


@dataclass(frozen=True)
class Probed(Checked):
    """Any weighting, with the cosine of the two tasks' gradients at the embedding and the ratio of their norms in the
    log."""

    kind: ClassVar[str] = "probed"
    base: Annotated[
        Weighting,
        Doc("the weighting whose gradients are recorded"),
    ] = Fixed(1.0)

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return ProbedBalancer(self.base.start(facts, rng))

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium | None:
        return self.base.stationary(local, align, progress, facts)

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return self.base.outlook(facts, lr, momentum, largest_local)


class ProbedBalancer(Balancer):
    def __init__(self, base: Balancer) -> None:
        super().__init__()
        self.base = base

    def rate(self, model_lr: float) -> float:
        return self.base.rate(model_lr)

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        balanced: Balanced = self.base(losses, progress)
        base, align = embedding_gradients(losses)
        ratio = base.norm() / align.norm().clamp(min=1e-12)
        probe = {"gradient_cosine": cosine(base, align), "gradient_ratio": ratio}
        return replace(balanced, measured={**balanced.measured, **probe})
