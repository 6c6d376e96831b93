"""Feature maps without training: the pixels, an encoder with random weights, and random filters."""

from dataclasses import dataclass
from math import prod
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from annotated_types import Gt, Le
from torch import Tensor, nn

from mooring.models._network import Blueprint, Normalise, frozen
from mooring.schema import Checked, Count, Doc, NonNegative, Seed
from mooring.seeds import generator

POOLING_GRID = 2  # responses are averaged over 2 x 2 regions
SIGNS = 2  # a filter and its negative
PATCHES = 2**25  # values of patches at once; those of one image of 224 pixels a side are five million
FLAT_VARIANCE = 0.01  # variance below which a patch counts as flat; that of the data is 1


@dataclass(frozen=True)
class Pixels:
    """phi(x) = (x - mean) / std, flattened: a lower bound for other maps."""

    kind: ClassVar[str] = "pixels"

    def size(self, blueprint: Blueprint) -> int:
        return prod(blueprint.shape)

    def build(self, blueprint: Blueprint) -> nn.Module:
        return frozen(Normalise(blueprint), nn.Flatten())

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self.build(blueprint)


@dataclass(frozen=True)
class RandomEncoder(Checked):
    """The pooled features of the model's backbone with random weights; `seed` alone decides them, for all clients."""

    kind: ClassVar[str] = "random-encoder"
    seed: Annotated[Seed, Doc("seed of the map, not of the experiment")] = 0

    def size(self, blueprint: Blueprint) -> int:
        return blueprint.backbone.build(blueprint.shape, torch.Generator())[1]

    def build(self, blueprint: Blueprint) -> nn.Module:
        return self._drawn(blueprint, generator(self.seed, "feature-map"))

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self._drawn(blueprint, torch.Generator())

    def _drawn(self, blueprint: Blueprint, rng: torch.Generator) -> nn.Module:
        return frozen(Normalise(blueprint), blueprint.backbone.build(blueprint.shape, rng)[0])


@dataclass(frozen=True)
class RandomFilters(Checked):
    """phi(x) = averages over four regions of relu(u - t) and relu(-u - t), u_f = w_f . p for every patch p of x.

    Patches have mean 0 and, unless they are flat, variance 1; filters are N(0, 1), centred, of unit norm: u is about
    N(0, 1) on noise. The pipeline of Coates, Ng and Lee (2011) without whitening, and without training data.
    `side` is at most half of the image's smaller side. d = 2 x filters x 4.
    """

    kind: ClassVar[str] = "random-filters"
    filters: Annotated[int, Gt(0), Le(2**14), Doc("random patches; eight features each")] = 64
    side: Annotated[Count, Doc("side of a patch; at most half of the image's")] = 6
    threshold: Annotated[NonNegative, Doc("subtracted from a response")] = 0.5
    seed: Annotated[Seed, Doc("seed of the map, not of the experiment")] = 0

    def size(self, blueprint: Blueprint) -> int:
        return SIGNS * self.filters * POOLING_GRID**2

    def build(self, blueprint: Blueprint) -> nn.Module:
        noise = torch.randn(*self._shape(blueprint), generator=generator(self.seed, "feature-map"))
        return self._with(F.normalize(noise - noise.mean(1, keepdim=True)), blueprint)

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self._with(torch.zeros(*self._shape(blueprint)), blueprint)

    def _side(self, blueprint: Blueprint) -> int:
        return min(self.side, max(1, min(blueprint.shape[1:]) // 2))

    def _shape(self, blueprint: Blueprint) -> tuple[int, int]:
        return self.filters, blueprint.shape[0] * self._side(blueprint) ** 2

    def _with(self, filters: Tensor, blueprint: Blueprint) -> nn.Module:
        return frozen(Normalise(blueprint), PatchFilters(filters, self._side(blueprint), self.threshold))


class PatchFilters(nn.Module):
    filters: Tensor  # (F, C * side^2)

    def __init__(self, filters: Tensor, side: int, threshold: float) -> None:
        super().__init__()
        self.register_buffer("filters", filters)
        self.side = side
        self.threshold = threshold

    def forward(self, images: Tensor) -> Tensor:
        values = max(1, images[0:1].numel() * self.side**2)  # of the patches of one image, about
        return torch.cat([self._responses(part) for part in images.split(max(1, PATCHES // values))])

    def _responses(self, images: Tensor) -> Tensor:
        patches = F.unfold(images, self.side)  # (B, C * side^2, positions); much faster than a convolution on CPU
        patches = patches - patches.mean(1, keepdim=True)
        patches = patches / (patches.square().mean(1, keepdim=True) + FLAT_VARIANCE).sqrt()
        rows, columns = (length - self.side + 1 for length in images.shape[2:])
        u = (self.filters @ patches).unflatten(2, (rows, columns))  # (B, F, rows, columns)
        pooled = [F.adaptive_avg_pool2d(F.relu(sign * u - self.threshold), POOLING_GRID) for sign in (1, -1)]
        return torch.cat(pooled, 1).flatten(1)
