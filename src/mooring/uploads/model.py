"""The trained network itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mooring.data.images import ImageSet
from mooring.models.network import PROTOTYPES, Blueprint, Network


@dataclass(frozen=True)
class Encoder:
    """Everything between an image and its embedding, batch-norm statistics included."""

    trained: ClassVar[bool] = True

    def __call__(self, network: Network, shard: ImageSet) -> Mapping[str, Tensor]:
        return {name: tensor for name, tensor in network.state_dict().items() if name != PROTOTYPES}

    def expected(self, blueprint: Blueprint) -> Mapping[str, Tensor]:
        return {name: tensor for name, tensor in state_of(blueprint).items() if name != PROTOTYPES}


@dataclass(frozen=True)
class Prototypes:
    """One learned vector per class, (C, d)."""

    trained: ClassVar[bool] = True

    def __call__(self, network: Network, shard: ImageSet) -> Mapping[str, Tensor]:
        return {PROTOTYPES: network.prototypes}

    def expected(self, blueprint: Blueprint) -> Mapping[str, Tensor]:
        return {PROTOTYPES: state_of(blueprint)[PROTOTYPES]}


def state_of(blueprint: Blueprint) -> Mapping[str, Tensor]:
    """The state of a network of this blueprint, shapes and types only."""
    return {name: tensor.to("meta") for name, tensor in blueprint.build(torch.Generator()).state_dict().items()}
