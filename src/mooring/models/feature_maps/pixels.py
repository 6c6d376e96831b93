"""The image itself."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from torch import nn

from mooring.models.feature_maps.base import Normalise, frozen
from mooring.models.network import Blueprint


@dataclass(frozen=True)
class Pixels:
    """phi(x) = (x - mean) / std, flattened: the floor under every other map."""

    kind: ClassVar[str] = "pixels"

    def size(self, blueprint: Blueprint) -> int:
        return prod(blueprint.shape)

    def build(self, blueprint: Blueprint) -> nn.Module:
        return frozen(Normalise(blueprint), nn.Flatten())

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self.build(blueprint)
