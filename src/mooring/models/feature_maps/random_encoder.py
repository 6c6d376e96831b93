"""An encoder that nobody has trained."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from mooring.models.feature_maps.base import Normalise, frozen
from mooring.models.network import Blueprint
from mooring.seeds import generator
from mooring.types import NonNegativeInt


@dataclass(frozen=True)
class RandomEncoder:
    """The pooled features of the model's backbone with random weights; `seed` alone decides them, for all clients."""

    kind: ClassVar[str] = "random-encoder"
    seed: NonNegativeInt = 0

    def size(self, blueprint: Blueprint) -> int:
        return blueprint.backbone.build(blueprint.shape[0], torch.Generator())[1]

    def build(self, blueprint: Blueprint) -> nn.Module:
        return self._drawn(blueprint, generator(self.seed, "feature-map"))

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self._drawn(blueprint, torch.Generator())

    def _drawn(self, blueprint: Blueprint, rng: torch.Generator) -> nn.Module:
        return frozen(Normalise(blueprint), blueprint.backbone.build(blueprint.shape[0], rng)[0])
