"""A moving average that knows when it began."""

import torch
from torch import Tensor, nn


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
