"""Stochastic gradient descent with momentum, in groups that have a learning rate each.

Written out because torch's optimizers load torch's compiler on first use, which was a third of a worker's start.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Group:
    parameters: Sequence[nn.Parameter]
    base_lr: float
    weight_decay: float = 0.0


class Sgd:
    """b <- m b + g + w p (at first b = g + w p),  p <- p - eta b: to the byte what torch.optim.SGD does."""

    def __init__(self, groups: Sequence[Group], momentum: float) -> None:
        self.groups = groups
        self.momentum = momentum
        self.factor = 1.0  # of every group's learning rate
        self.parameters = [parameter for group in groups for parameter in group.parameters]
        self.buffers: dict[int, Tensor] = {}  # b, by the number of its parameter; none where nothing has moved yet

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        number = -1
        for group in self.groups:
            lr = group.base_lr * self.factor
            for parameter in group.parameters:
                number += 1
                if parameter.grad is None:
                    continue
                direction = parameter.grad
                if group.weight_decay:
                    direction = direction.add(parameter, alpha=group.weight_decay)
                if self.momentum:
                    direction = self._remembered(number, direction)
                parameter.add_(direction, alpha=-lr)

    def _remembered(self, number: int, direction: Tensor) -> Tensor:
        if number in self.buffers:
            self.buffers[number].mul_(self.momentum).add_(direction)
        else:
            self.buffers[number] = direction.clone()
        return self.buffers[number]
