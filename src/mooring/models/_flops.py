"""Counts the floating-point operations of one image.

Mooring's networks and feature maps multiply in four functions only, and each costs 2 x outputs x terms of a sum.
PyTorch's own counter gives the same numbers but takes two seconds to import; it counts users' own modules.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from mooring.models._backbones import BACKBONES
from mooring.models._encoders.session import OnnxFeatures
from mooring.models._feature_maps import FEATURE_MAPS, FIXED_SIZE_MAPS, FeatureMap, map_for_shape
from mooring.models._heads import HEADS
from mooring.models._network import Blueprint

TERMS: Mapping[Callable[..., Any], Callable[..., int]] = {  # of the sum that makes one output
    torch.conv2d: lambda _, weight, *rest: weight[0].numel(),
    F.linear: lambda inputs, *rest: inputs.shape[-1],
    Tensor.matmul: lambda inputs, *rest: inputs.shape[-1],
    torch.addmm: lambda _, left, *rest: left.shape[-1],
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
    """One image through one network; only products are counted, as usual."""
    network = blueprint.build(torch.Generator()).eval()
    known = type(blueprint.backbone) in BACKBONES.values() and type(blueprint.head) in HEADS.values()
    return (count_flops if known else counted_by_torch)(network, blueprint.shape)


def feature_flops(features: FeatureMap, blueprint: Blueprint) -> int | None:
    """One image through a feature map; None if onnxruntime computes it, which does not count operations."""
    features = map_for_shape(features, blueprint.shape)
    if isinstance(features, FIXED_SIZE_MAPS):
        return None
    phi = features.empty(blueprint)
    if any(isinstance(part, OnnxFeatures) for part in phi.modules()):
        return None
    known = type(features) in FEATURE_MAPS.values()
    return (count_flops if known else counted_by_torch)(phi, blueprint.shape)


def count_flops(module: nn.Module, shape: tuple[int, int, int]) -> int:
    seen = Multiplications()
    with torch.inference_mode(), seen:
        module(torch.zeros(1, *shape))
    return seen.flops


def counted_by_torch(module: nn.Module, shape: tuple[int, int, int]) -> int:
    from torch.utils.flop_counter import FlopCounterMode

    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        module(torch.zeros(1, *shape))
    return int(counter.get_total_flops())
