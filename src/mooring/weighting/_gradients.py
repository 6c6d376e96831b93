"""Weights from gradients: equal gradient norms at the embedding (note 1, plan 2), and the one-step bilevel weight that
V12 approximates according to note 3."""

from dataclasses import dataclass, field
from math import log
from typing import Annotated, Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from annotated_types import Ge, Lt
from torch import Generator, Tensor, autograd

from mooring.schema import ADDED_LATER, Checked, Doc, Positive
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, LambdaBounds, MovingAverage, pull


@dataclass(frozen=True)
class GradientNormalised(Checked):
    """lambda = clip( share EMA(|grad_z L_b|) / EMA(|grad_z L_a|), 0, lmax ): both tasks pull equally at the embedding.

    In the spirit of GradNorm (Chen et al. 2018), in closed form. Logs the cosine of the two gradients.
    """

    kind: ClassVar[str] = "gradient-normalised"
    share: Annotated[Positive, Doc("gradient norm of the alignment, relative to the base loss")] = 1.0
    maximum: Annotated[Positive, Doc("largest lambda")] = 10.0
    memory: Annotated[float, Ge(0), Lt(1), Doc("decay of the moving averages")] = 0.95

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


@dataclass(frozen=True)
class Hypergradient(Checked):
    """log lambda += rate lambda < grad_P L_outer(now), grad_P L_a(last step) >, kept in [log lmin, log lmax].

    The last step moved the prototypes by -eta lambda grad_P L_a, so d L_outer / d log lambda = -eta lambda <., .>:
    this is descent on the outer loss (Franceschi et al. 2017, unrolled by one step). Theirs is a validation loss:
    `held-out`, L_b on images that the client keeps out of its training. `next-batch` takes L_b of this batch instead,
    which costs no images and nothing to compute. Deviations: momentum and clipping of that step are ignored, and eta is
    taken into `rate`; a client with a single image has none to hold out, and its lambda stays where it starts.
    """

    kind: ClassVar[str] = "hypergradient"
    start_at: Annotated[Positive, Doc("lambda at the start")] = 1.0
    rate: Annotated[Positive, Doc("learning rate of log lambda")] = 0.1
    minimum: Annotated[Positive, Doc("smallest lambda")] = 0.01
    maximum: Annotated[Positive, Doc("largest lambda")] = 50.0
    outer: Annotated[
        Literal["next-batch", "held-out"],
        Doc("images of the outer loss; `held-out` needs `method.client.held_out`"),
    ] = field(default="next-batch", metadata={ADDED_LATER: True})

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return HypergradientBalancer(self)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> None:
        return None  # no closed form

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return LambdaBounds(self.maximum, bounded=True, guard="bound", cap=lambda local, progress: self.maximum)


class HypergradientBalancer(Balancer):
    """log lambda, and the alignment gradient of the last step."""

    log_lam: Tensor
    last: Tensor  # (C, d); one zero before the first step, so that nothing moves

    def __init__(self, rule: Hypergradient) -> None:
        super().__init__()
        self.rule = rule
        self.register_buffer("log_lam", torch.tensor(log(rule.start_at)))
        self.register_buffer("last", torch.zeros(()))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        self.last = torch.zeros_like(state_dict[f"{prefix}last"])  # its shape is known after the first step
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        rule = self.rule
        outer = losses.local if rule.outer == "next-batch" else losses.held_out
        align_gradient = gradient_at(losses.prototypes, losses.align)
        outer_gradient = torch.zeros_like(align_gradient) if outer is None else gradient_at(losses.prototypes, outer)
        agreement = (outer_gradient * self.last).sum()
        moved = self.log_lam + rule.rate * self.log_lam.exp() * agreement
        self.log_lam = moved.clamp(log(rule.minimum), log(rule.maximum))
        self.last = align_gradient
        lam = self.log_lam.exp().clamp(rule.minimum, rule.maximum)
        return pull(lam, lam)


def gradient_at(prototypes: Tensor, loss: Tensor) -> Tensor:
    """Zero where a loss does not know the prototypes."""
    (gradient,) = autograd.grad(loss, prototypes, retain_graph=True, allow_unused=True)
    return torch.zeros_like(prototypes) if gradient is None else gradient
