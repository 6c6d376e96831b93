"""The multi-task baselines: each of the two losses gets a share, by a soft-max.

model_loss = w_b L_b + w_a L_a,   effective lambda = w_a / w_b
"""

from dataclasses import dataclass
from math import exp, inf
from typing import Annotated, ClassVar

import torch
from torch import Generator, Tensor

from mooring.schema import Checked, Doc, NonNegative, Positive
from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting._base import Balancer, Equilibrium, LambdaBounds

LARGEST_LOG = 80.0  # e^80 still fits a 32-bit float


def shared(preference: Tensor, total: float = 1.0) -> Balanced:
    """Shares total * softmax(preference), preference (2,) for L_b and L_a."""
    w = total * preference.softmax(0)
    lam = (preference[1] - preference[0]).clamp(-LARGEST_LOG, LARGEST_LOG).exp()
    return Balanced(w[0], w[1], None, lam, lam)


def share_of_local(felt: float, sigma_sq_local: float | None) -> float:
    """w_b = 1 / (1 + lambda), where both shares add up to one."""
    return 1 / (1 + felt)


@dataclass(frozen=True)
class RandomShares:
    """RLW: w = softmax of two standard normal draws, new in every step (Lin et al. 2022): the sanity baseline."""

    kind: ClassVar[str] = "random"

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return RandomBalancer(rng)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> None:
        return None  # never at rest

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        return LambdaBounds(
            inf, local_weight=share_of_local
        )  # a draw has no bound, but it is forgotten in the next step


class RandomBalancer(Balancer):
    def __init__(self, rng: Generator) -> None:
        super().__init__()
        self.rng = rng

    def get_extra_state(self) -> Tensor:
        return self.rng.get_state()

    def set_extra_state(self, state: Tensor) -> None:
        self.rng.set_state(state)

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        return shared(torch.randn(2, generator=self.rng).to(losses.local.device))


@dataclass(frozen=True)
class DynamicAverage(Checked):
    """DWA: w = 2 softmax(r / T), r_i = L_i(epoch - 1) / L_i(epoch - 2) (Liu et al. 2019)."""

    kind: ClassVar[str] = "dwa"
    temperature: Annotated[Positive, Doc("temperature of the soft-max of rates")] = 2.0

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return DynamicAverageBalancer(self.temperature)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium:
        return Equilibrium(1.0, 1.0)  # both losses at rest: both ratios are 1

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        # a loss may grow by any factor from one epoch to the next; the shares add up to two
        return LambdaBounds(inf, local_weight=lambda felt, sigma_sq_local: 2 / (1 + felt))


class DynamicAverageBalancer(Balancer):
    """Mean losses of the two epochs before, and the sums of this one."""

    past: Tensor  # (2, 2): epoch before last, last; NaN until known
    sums: Tensor  # (2,)
    count: Tensor
    epoch: Tensor

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature
        self.register_buffer("past", torch.full((2, 2), torch.nan))
        self.register_buffer("sums", torch.zeros(2))
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("epoch", torch.zeros((), dtype=torch.int64))

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        epoch = torch.full_like(self.epoch, progress.round * progress.local_epochs + progress.epoch)
        begins = epoch != self.epoch  # (), compared where it lies: no step waits for a device
        self.past = torch.where(begins, torch.stack([self.past[1], self.sums / self.count]), self.past)
        self.sums, self.count = (torch.where(begins, 0.0, kept) for kept in (self.sums, self.count))
        self.epoch = epoch
        self.sums = self.sums + torch.stack([losses.local, losses.align]).detach()
        self.count = self.count + 1
        rates = (self.past[1] / self.past[0]).nan_to_num(1.0, 1.0)
        return shared(rates / self.temperature, total=2.0)


@dataclass(frozen=True)
class SoftOptimalUncertainty(Checked):
    """UW-SO: w = softmax(1 / (L T)) (Kirchdorfer et al. 2024): effective lambda = exp((1/L_a - 1/L_b) / T).

    Still diverges as L_a -> 0 unless L_a has a floor: a baseline, not a cure.
    """

    kind: ClassVar[str] = "uw-so"
    temperature: Annotated[Positive, Doc("temperature of the soft-max of inverse losses")] = 1.0
    floor: Annotated[NonNegative, Doc("smallest alignment loss; 0: lambda is unbounded")] = 0.0

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return SoftOptimalBalancer(self)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Equilibrium | None:
        align = max(align, self.floor)
        if local <= 0 or align <= 0:
            return None
        lam = exp(max(min((1 / align - 1 / local) / self.temperature, LARGEST_LOG), -LARGEST_LOG))
        return Equilibrium(lam, lam)

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> LambdaBounds:
        log_largest = min(1 / (self.floor * self.temperature), LARGEST_LOG) if self.floor else LARGEST_LOG
        return LambdaBounds(exp(log_largest), local_weight=share_of_local)


class SoftOptimalBalancer(Balancer):
    def __init__(self, rule: SoftOptimalUncertainty) -> None:
        super().__init__()
        self.rule = rule

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        tiny = torch.finfo(torch.float32).tiny
        seen = torch.stack([losses.local, losses.align.clamp(min=self.rule.floor)]).detach().clamp(min=tiny)
        return shared((1 / (seen * self.rule.temperature)).clamp(max=1e30))
