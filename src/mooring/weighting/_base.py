"""The shape of a weighting: a frozen rule, and the mutable balancer that it starts for one client."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Generator, Tensor, nn

from mooring.types import Balanced, ClientFacts, Losses, Progress


@dataclass(frozen=True)
class Equilibrium:
    """Where a weighting would come to rest if both losses stood still: its raw lambda and what the weights feel.

    >>> from mooring import Progress
    >>> from mooring.types import ClientFacts
    >>> from mooring.weighting import Annealed, Fixed
    >>> Annealed(Fixed(4.0), "linear").stationary(1.0, 0.1, Progress(step=50, steps=100), ClientFacts(0, (60, 40)))
    Equilibrium(raw=4.0, felt=2.0)
    """

    raw: float
    felt: float


def full_local_weight(felt: float, sigma_sq_local: float | None) -> float:
    """L_b as it is."""
    return 1.0


@dataclass(frozen=True)
class LambdaBounds:
    """What is known of a client's lambda before it trains.

    `largest` bounds the effective lambda; `bounded` says that the rule itself keeps it there. `cap` is the effective
    lambda at which a guard binds, given L_b and how far the training is. `local_weight` is the factor of L_b,
    given the effective lambda and sigma_local^2: the step of SGD on the alignment goes by local_weight * lambda.

    >>> from mooring.types import ClientFacts
    >>> from mooring.weighting import Fixed
    >>> Fixed(5.0).outlook(ClientFacts(0, (60, 40)), lr=0.05, momentum=0.9, largest_local=2.0).bounded
    True
    """

    largest: float
    bounded: bool = False
    relaxation: float | None = None  # steps; None when nothing is learned
    momentum: float | None = None
    cancels: bool = False  # does annealing cancel at the equilibrium?
    guard: str | None = None
    cap: Callable[[float, Progress], float] | None = None
    local_weight: Callable[[float, float | None], float] = full_local_weight


class Balancer(nn.Module, ABC):
    """The state of a weighting at one client. Its parameters have their own optimizer group and are never uploaded.

    >>> import torch
    >>> from mooring.types import ClientFacts
    >>> from mooring.weighting import Uncertainty
    >>> balancer = Uncertainty().start(ClientFacts(0, (60, 40)), torch.Generator())
    >>> len(list(balancer.parameters()))  # u and v
    2
    """

    def rate(self, model_lr: float) -> float:
        """The learning rate of its own parameters."""
        return model_lr

    @abstractmethod
    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        """Weights for the two losses of one step; the training loop forms the loss."""


def pull(
    lambda_raw: Tensor,
    lambda_felt: Tensor,
    schedule_factor: float = 1.0,
    own_loss: Tensor | None = None,
    measured: Mapping[str, Tensor] | None = None,
) -> Balanced:
    """The base loss as it is, plus the weighted alignment loss: w_local = 1, w_align = lambda.

    >>> import torch
    >>> from mooring import pull
    >>> pull(lambda_raw=torch.tensor(5.0), lambda_felt=torch.tensor(5.0)).w_align.item()
    5.0
    """
    one = lambda_felt.new_ones(())
    return Balanced(one, lambda_felt, own_loss, lambda_raw, lambda_felt, schedule_factor, measured or {})


class Weighting(Protocol):
    """How hard the anchor pulls.

    >>> from mooring.weighting import WEIGHTINGS
    >>> WEIGHTINGS["fixed"](3.0).kind
    'fixed'
    """

    kind: ClassVar[str]

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer: ...

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium | None: ...

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds: ...


class MovingAverage(nn.Module):
    """a <- memory a + (1 - memory) x, started at the first x; part of a balancer's state."""

    value: Tensor
    steps: Tensor

    def __init__(self, memory: float, size: int) -> None:
        super().__init__()
        self.memory = memory
        self.register_buffer("value", torch.zeros(size))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, now: Tensor) -> Tensor:
        memory = torch.where(self.steps > 0, self.memory, 0.0)
        self.value = memory * self.value + (1 - memory) * now
        self.steps = self.steps + 1
        return self.value
