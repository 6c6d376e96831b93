"""Shares by chance."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import torch
from torch import Generator, Tensor

from mooring.types import Balanced, ClientFacts, Losses, Progress
from mooring.weighting.base import Balancer, Outlook
from mooring.weighting.shares import shared


@dataclass(frozen=True)
class RandomShares:
    """RLW: w = softmax of two standard normal draws, new in every step (Lin et al. 2022): the sanity baseline."""

    kind: ClassVar[str] = "random"

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return RandomBalancer(rng)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> None:
        return None  # never at rest

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> Outlook:
        return Outlook(inf)  # a draw has no bound, but it is forgotten in the next step


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
