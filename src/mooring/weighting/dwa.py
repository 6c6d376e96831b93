"""Shares by how fast each loss falls."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import torch
from torch import Generator, Tensor

from mooring.bounds import Checked
from mooring.types import Balanced, ClientFacts, Losses, Positive, Progress
from mooring.weighting.base import Balancer, Outlook, Stationary
from mooring.weighting.shares import shared


@dataclass(frozen=True)
class DynamicAverage(Checked):
    """DWA: w = 2 softmax(r / T), r_i = L_i(epoch - 1) / L_i(epoch - 2) (Liu et al. 2019)."""

    kind: ClassVar[str] = "dwa"
    temperature: Positive = 2.0

    def start(self, facts: ClientFacts, rng: Generator) -> Balancer:
        return DynamicAverageBalancer(self.temperature)

    def stationary(self, local: float, align: float, progress: Progress, facts: ClientFacts) -> Stationary:
        return Stationary(1.0, 1.0)  # both losses at rest: both ratios are 1

    def outlook(self, facts: ClientFacts, lr: float, momentum: float, largest_local: float) -> Outlook:
        return Outlook(inf)  # a loss may grow by any factor from one epoch to the next


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
        epoch = progress.round * progress.local_epochs + progress.epoch
        if epoch != int(self.epoch):
            self.past = torch.stack([self.past[1], self.sums / self.count])
            self.sums, self.count = torch.zeros_like(self.sums), torch.zeros_like(self.count)
            self.epoch = torch.full_like(self.epoch, epoch)
        self.sums = self.sums + torch.stack([losses.local, losses.align]).detach()
        self.count = self.count + 1
        rates = (self.past[1] / self.past[0]).nan_to_num(1.0, 1.0)
        return shared(rates / self.temperature, total=2.0)
