"""Where a client computes."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn

HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class Device:
    """Random numbers are drawn on the CPU on every device, which gives all devices the same views."""

    name: str = "cpu"

    def take(self, tensor: Tensor) -> Tensor:
        return tensor.to(self.name, non_blocking=True)

    def hold(self, module: nn.Module) -> None:
        """Move a module here; where it is here already, none of its tensors is visited."""
        first = next(module.parameters(), None)
        if first is None or first.device != torch.device(self.name):
            module.to(self.name)

    def autocast(self, precision: str) -> AbstractContextManager[None]:
        """bfloat16 and float16: convolutions and matrix products; losses, statistics and weights stay in float32."""
        if precision == "float32":
            return nullcontext()
        return torch.autocast(torch.device(self.name).type, HALVES[precision])


CPU = Device()


def gpu(number: int) -> Device:
    return Device(f"cuda:{number}")
