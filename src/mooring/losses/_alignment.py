"""How far the prototypes are from their anchors."""

from dataclasses import dataclass
from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor

from mooring.types import Step


def anchored(step: Step) -> tuple[Tensor, Tensor]:
    """The prototypes and the anchors that an alignment term was promised."""
    assert step.anchors is not None, "an alignment term outside an Alignment"
    return step.prototypes, step.anchors


@dataclass(frozen=True)
class MeanSquared:
    """mean over C x d entries of (P - A)^2: as published. The scale of lambda therefore depends on C and d."""

    kind: ClassVar[str] = "mean-squared"
    looks_at_views: ClassVar[bool] = False
    extra_input: ClassVar[str] = "anchors"

    def __call__(self, step: Step) -> Tensor:
        return F.mse_loss(*anchored(step))


@dataclass(frozen=True)
class CosineDistance:
    """mean over classes of 1 - cos(P_c, A_c), in [0, 2] whatever C, d and the norms are."""

    kind: ClassVar[str] = "cosine-distance"
    looks_at_views: ClassVar[bool] = False
    extra_input: ClassVar[str] = "anchors"

    def __call__(self, step: Step) -> Tensor:
        return 1 - F.cosine_similarity(*anchored(step)).mean()
