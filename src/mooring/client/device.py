"""Where a client computes: on the CPU exactly, on a GPU quickly."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Device:
    """`half`: convolutions and matrix products in bfloat16; losses, statistics and weights stay in float32.

    Random numbers are drawn on the CPU wherever the work is done, so that every device sees the same views.
    """

    name: str = "cpu"
    half: bool = False

    def take(self, tensor: Tensor) -> Tensor:
        return tensor.to(self.name, non_blocking=True)

    def hold(self, module: nn.Module) -> None:
        """Move a module here; where it is here already, none of its tensors is visited."""
        first = next(module.parameters(), None)
        if first is None or first.device != torch.device(self.name):
            module.to(self.name)

    def autocast(self) -> AbstractContextManager[None]:
        return torch.autocast(torch.device(self.name).type, torch.bfloat16) if self.half else nullcontext()


CPU = Device()


def gpu(number: int) -> Device:
    return Device(f"cuda:{number}", half=True)
