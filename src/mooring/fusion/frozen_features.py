"""Predictors on features that nobody trained."""

import torch
from torch import Tensor, nn

from mooring.errors import FusionError
from mooring.fusion.base import Frozen

MARGIN = 100.0  # how far below all others a class scores that nobody has seen


class FrozenFeatures(Frozen):
    """score(x) = head(phi(x)) for the classes that somebody has seen; the others score MARGIN below the lowest."""

    seen: Tensor  # (C,), bool

    def __init__(self, phi: nn.Module, head: nn.Module, seen: Tensor) -> None:
        super().__init__()
        self.phi = phi
        self.head = head
        self.register_buffer("seen", seen)
        self.eval()

    def forward(self, images: Tensor) -> Tensor:
        known: Tensor = self.head(self.phi(images).double()).float()  # (B, classes seen)
        scores = (known.amin(1, keepdim=True) - MARGIN).repeat(1, len(self.seen))
        scores[:, self.seen] = known
        return scores


class Affine(nn.Module):
    """x W + b"""

    weight: Tensor  # (d, C), float64
    bias: Tensor  # (C,)

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


def cholesky(matrix: Tensor) -> Tensor:
    """L L' = A, (..., d, d); moments of real features always have one."""
    factor: Tensor
    factor, failed = torch.linalg.cholesky_ex(matrix)
    if failed.any():
        raise FusionError(
            "the second moments of these clients are those of no data", "leave out clients until they are, one by one"
        )
    return factor
