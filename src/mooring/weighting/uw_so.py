"""Shares by inverse losses."""

from dataclasses import dataclass
from math import exp
from typing import ClassVar

import torch
from torch import Generator

from mooring.bounds import Checked
from mooring.types import Balanced, ClientFacts, Losses, NonNegative, Positive, Progress
from mooring.weighting.base import Balancer, Outlook, Stationary
from mooring.weighting.shares import LARGEST_LOG, shared


@dataclass(frozen=True)
class SoftOptimalUncertainty(Checked):
    """UW-SO: w = softmax(1 / (L T)) (Kirchdorfer et al. 2024): felt lambda = exp((1/L_a - 1/L_b) / T).

    Still diverges as L_a -> 0 unless L_a has a floor: a baseline, not a cure.
    """

    kind: ClassVar[str] = "uw-so"
    temperature: Positive = 1.0
    floor: NonNegative = 0.0

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return SoftOptimalBalancer(self)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Stationary | None:
        align = max(align, self.floor)
        if local <= 0 or align <= 0:
            return None
        lam = exp(max(min((1 / align - 1 / local) / self.temperature, LARGEST_LOG), -LARGEST_LOG))
        return Stationary(lam, lam)

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> Outlook:
        log_largest = min(1 / (self.floor * self.temperature), LARGEST_LOG) if self.floor else LARGEST_LOG
        return Outlook(exp(log_largest))


class SoftOptimalBalancer(Balancer):
    def __init__(self, rule: SoftOptimalUncertainty) -> None:
        super().__init__()
        self.rule = rule

    def forward(self, losses: Losses, progress: Progress) -> Balanced:
        tiny = torch.finfo(torch.float32).tiny
        seen = torch.stack([losses.local, losses.align.clamp(min=self.rule.floor)]).detach().clamp(min=tiny)
        return shared((1 / (seen * self.rule.temperature)).clamp(max=1e30))
