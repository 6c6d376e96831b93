"""The interface of a feature map."""

from typing import ClassVar, Protocol

import torch
from torch import Tensor, nn

from mooring.models._network import Blueprint


class FeatureMap(Protocol):
    """A frozen description of phi: images -> features (B, d), the same function in every process.

    The module is in eval mode, has no gradients, and takes uint8 or [0, 1] images (B, C, H, W).
    """

    kind: ClassVar[str]

    def size(self, blueprint: Blueprint) -> int:
        """d"""
        ...

    def build(self, blueprint: Blueprint) -> nn.Module: ...

    def empty(self, blueprint: Blueprint) -> nn.Module:
        """The same module before it has its weights: a saved predictor fills them in."""
        ...


class Normalise(nn.Module):
    """(x - mean) / std with the mean and std of the blueprint."""

    mean: Tensor
    std: Tensor

    def __init__(self, blueprint: Blueprint) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(blueprint.mean)[:, None, None])
        self.register_buffer("std", torch.tensor(blueprint.std)[:, None, None])

    def forward(self, images: Tensor) -> Tensor:
        if images.dtype == torch.uint8:
            images = images.float() / 255
        return (images - self.mean) / self.std


def frozen(*layers: nn.Module) -> nn.Module:
    """The layers in sequence, without training."""
    return nn.Sequential(*layers).requires_grad_(False).eval()
