"""How many floating-point operations one image costs: counted on the network and not guessed.

The encoders and heads of the house multiply in three functions only, and each is 2 x outputs x terms of a sum. torch's
own counter says the same of them, but loads the compiler for it: two seconds. It counts what users bring.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from mooring.models.backbones import BACKBONES
from mooring.models.heads import HEADS
from mooring.models.network import Blueprint, Network

TERMS: Mapping[Callable[..., Any], Callable[..., int]] = {  # of the sum that makes one output
    torch.conv2d: lambda _, weight, *rest: weight[0].numel(),
    F.linear: lambda inputs, *rest: inputs.shape[-1],
    Tensor.matmul: lambda inputs, *rest: inputs.shape[-1],
}


class Multiplications(TorchFunctionMode):
    """Sums 2 x outputs x terms over all products that are made within it."""

    flops = 0

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        if func in TERMS:
            self.flops += 2 * out.numel() * TERMS[func](*args)
        return out


@lru_cache(maxsize=64)
def forward_flops(blueprint: Blueprint) -> int:
    """One image through one network: products only, as the field counts."""
    network = blueprint.build(torch.Generator()).eval()
    known = type(blueprint.backbone) in BACKBONES.values() and type(blueprint.head) in HEADS.values()
    with torch.inference_mode():
        return counted(network) if known else counted_by_torch(network)


def counted(network: Network) -> int:
    seen = Multiplications()
    with seen:
        network(torch.zeros(1, *network.blueprint.shape))
    return seen.flops


def counted_by_torch(network: Network) -> int:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        network(torch.zeros(1, *network.blueprint.shape))
    return int(counter.get_total_flops())
