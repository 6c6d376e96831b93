"""Scaling of the loss, without which float16 loses small gradients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import Parameter

FIRST, LARGEST, SMALLEST = 2.0**16, 2.0**24, 2.0**-16
PATIENCE = 2000  # steps in a row with finite gradients, after which the scale doubles


class Unscaled:
    """g = grad L"""

    def backward(self, loss: Tensor, parameters: Sequence[Parameter]) -> None:
        """Leave the gradients of the loss in the parameters."""
        loss.backward()

    def state(self) -> dict[str, Tensor]:
        return {}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        pass


@dataclass
class LossScale(Unscaled):
    """g = grad(S L) / S (Micikevicius et al. 2018)

    If g is not finite, no parameter has a gradient in this step and S is halved. S doubles after 2000 steps in a row
    with finite gradients. At the smallest S, a gradient that is not finite stays and stops the client.
    """

    scale: float = FIRST
    finite_steps: int = 0

    def backward(self, loss: Tensor, parameters: Sequence[Parameter]) -> None:
        (self.scale * loss).backward()
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        torch._foreach_mul_(gradients, 1 / self.scale)
        if bool(torch.stack([gradient.sum() for gradient in gradients]).isfinite().all()):
            self.finite_steps += 1
            if self.finite_steps >= PATIENCE:
                self.scale, self.finite_steps = min(2 * self.scale, LARGEST), 0
        elif self.scale > SMALLEST:
            self.scale, self.finite_steps = self.scale / 2, 0
            for parameter in parameters:
                parameter.grad = None

    def state(self) -> dict[str, Tensor]:
        return {"loss_scale": torch.tensor([self.scale, self.finite_steps], dtype=torch.float64)}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        self.scale, steps = state["loss_scale"].tolist()
        self.finite_steps = int(steps)


def loss_scale_for(precision: str) -> Unscaled:
    return LossScale() if precision == "float16" else Unscaled()
