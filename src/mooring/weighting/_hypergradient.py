"""The true one-step bilevel weight that note 3 says V12 approximates."""

from dataclasses import dataclass, field
from math import log
from typing import Annotated, Any, ClassVar, Literal

import torch
from torch import Generator, Tensor, autograd

from mooring.schema import LATER, Checked, Doc, Positive
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, LambdaBounds, pull


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
    start_at: Annotated[Positive, Doc("first lambda")] = 1.0
    rate: Annotated[Positive, Doc("how fast log lambda moves")] = 0.1
    minimum: Annotated[Positive, Doc("least lambda")] = 0.01
    maximum: Annotated[Positive, Doc("greatest lambda")] = 50.0
    outer: Annotated[
        Literal["next-batch", "held-out"],
        Doc("whose base loss is descended on; or `held-out`, with `method.client.held_out`"),
    ] = field(default="next-batch", metadata={LATER: True})

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
