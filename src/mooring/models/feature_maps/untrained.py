"""Maps without anything learned: the image itself, and an encoder that nobody has trained."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import torch
from torch import nn

from mooring.bounds import Checked
from mooring.models.feature_maps.base import Normalise, frozen
from mooring.models.network import Blueprint
from mooring.seeds import generator
from mooring.types import Seed


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


@dataclass(frozen=True)
class RandomEncoder(Checked):
    """The pooled features of the model's backbone with random weights; `seed` alone decides them, for all clients."""

    kind: ClassVar[str] = "random-encoder"
    seed: Seed = 0

    def size(self, blueprint: Blueprint) -> int:
        return blueprint.backbone.build(blueprint.shape[0], torch.Generator())[1]

    def build(self, blueprint: Blueprint) -> nn.Module:
        return self._drawn(blueprint, generator(self.seed, "feature-map"))

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self._drawn(blueprint, torch.Generator())

    def _drawn(self, blueprint: Blueprint, rng: torch.Generator) -> nn.Module:
        return frozen(Normalise(blueprint), blueprint.backbone.build(blueprint.shape[0], rng)[0])
