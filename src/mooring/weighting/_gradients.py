"""A weight that makes both tasks pull equally hard at the embedding: note 1, plan 2."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from annotated_types import Ge, Lt
from torch import Generator, Tensor, autograd

from mooring.schema import Checked, Doc, Positive
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, LambdaBounds, MovingAverage, pull


@dataclass(frozen=True)
class GradientNormalised(Checked):
    """lambda = clip( share EMA(|grad_z L_b|) / EMA(|grad_z L_a|), 0, lmax ): both tasks pull equally at the embedding.

    In the spirit of GradNorm (Chen et al. 2018), in closed form. Logs the cosine of the two gradients.
    """

    kind: ClassVar[str] = "gradient-normalised"
    share: Annotated[Positive, Doc("pull of the alignment at the embedding, relative to the task's")] = 1.0
    maximum: Annotated[Positive, Doc("greatest lambda")] = 10.0
    memory: Annotated[float, Ge(0), Lt(1), Doc("of the moving averages of both gradient norms")] = 0.95

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return GradientBalancer(self)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> None:
        return None  # depends on gradients, not on losses

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return LambdaBounds(self.maximum, bounded=True, guard="bound", cap=lambda local, progress: self.maximum)


class GradientBalancer(Balancer):
    """Moving averages of both gradient norms."""

    def __init__(self, rule: GradientNormalised) -> None:
        super().__init__()
        self.rule = rule
        self.averages = MovingAverage(rule.memory, 2)

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        base, align = embedding_gradients(losses)
        base_norm, align_norm = self.averages(torch.stack([base.norm(), align.norm()]))
        raw = self.rule.share * base_norm / align_norm.clamp(min=1e-12)
        lam = raw.clamp(max=self.rule.maximum)
        return pull(raw, lam, measured={"gradient_cosine": cosine(base, align)})


def embedding_gradients(losses: Losses) -> tuple[Tensor, Tensor]:
    """Gradients of L_b and L_a at the embedding; zero where a loss does not reach it (anchors pull prototypes only)."""
    found = []
    for loss in (losses.local, losses.align):
        (gradient,) = autograd.grad(loss, losses.embedding, retain_graph=True, allow_unused=True)
        found.append(torch.zeros_like(losses.embedding) if gradient is None else gradient.detach())
    return found[0], found[1]


def cosine(a: Tensor, b: Tensor) -> Tensor:
    return F.cosine_similarity(a.flatten(), b.flatten(), dim=0)
