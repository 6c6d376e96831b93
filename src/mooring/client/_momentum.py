"""Stochastic gradient descent with momentum, written out: torch.optim costs every worker two seconds of imports."""

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import Parameter


@dataclass
class Group:
    """Parameters that share a learning rate; `rate` follows the schedule, `lr` is where it starts."""

    parameters: list[Parameter]
    lr: float
    weight_decay: float = 0.0
    rate: float = 0.0
    velocity: dict[int, Tensor] = field(default_factory=dict)  # by the parameter's place in the group


@dataclass
class Momentum:
    """v <- m v + (g + d p);  p <- p - rate v;  v begins at zero

    The same numbers as torch.optim.SGD, to the bit. A parameter without a gradient stays where it is.
    """

    groups: list[Group]
    momentum: float

    def __post_init__(self) -> None:
        self.parameters = [parameter for group in self.groups for parameter in group.parameters]

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Every group; the gradients are used up."""
        for group in self.groups:
            parameters: list[Tensor] = []
            summands: list[Tensor] = []
            velocity: list[Tensor] = []
            for i, parameter in enumerate(group.parameters):
                if parameter.grad is not None:
                    parameters.append(parameter)
                    summands.append(parameter.grad)
                    velocity.append(group.velocity.setdefault(i, torch.zeros_like(parameter)))
            if group.weight_decay:
                torch._foreach_add_(summands, parameters, alpha=group.weight_decay)
            torch._foreach_mul_(velocity, self.momentum)
            torch._foreach_add_(velocity, summands)
            torch._foreach_add_(parameters, velocity, alpha=-group.rate)
