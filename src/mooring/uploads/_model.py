"""The trained network itself."""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mooring.data import ImageSet
from mooring.models import PROTOTYPES, Blueprint, Network
from mooring.types import Upload
from mooring.uploads._part import Part, Tensors, UploadFacts

WEIGHTS = "weights of the network that the site has trained"
VARIANCE = "running_var"  # what torch calls the variance that a batch norm remembers


@dataclass(frozen=True)
class Encoder(Part):
    """Everything between an image and its embedding, batch-norm statistics included."""

    kind: ClassVar[str] = "encoder"
    trained: ClassVar[bool] = True
    counts_images: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        "encoder.": WEIGHTS,
        "head.": WEIGHTS,
    }

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        return {name: tensor for name, tensor in network.state_dict().items() if name != PROTOTYPES}

    def expected(self, blueprint: Blueprint) -> Tensors:
        return {name: tensor for name, tensor in state_of(blueprint).items() if name != PROTOTYPES}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        variances = [(name, tensor) for name, tensor in tensors.items() if name.rpartition(".")[2] == VARIANCE]
        return [f"tensor {name!r} holds a negative variance" for name, v in variances if (v < 0).any()]


@dataclass(frozen=True)
class Prototypes(Part):
    """One learned vector per class, (C, d)."""

    kind: ClassVar[str] = "prototypes"
    trained: ClassVar[bool] = True
    counts_images: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        PROTOTYPES: "one learned vector per class",
    }

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        return {PROTOTYPES: network.prototypes}

    def expected(self, blueprint: Blueprint) -> Tensors:
        return {PROTOTYPES: state_of(blueprint)[PROTOTYPES]}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        return []  # any vector may have been learned


def state_of(blueprint: Blueprint) -> dict[str, Tensor]:
    """The state of a network of this blueprint, shapes and types only."""
    return {name: tensor.to("meta") for name, tensor in blueprint.build(torch.Generator()).state_dict().items()}


def network_of_upload(upload: Upload, blueprint: Blueprint) -> Network:
    """A client's network from its upload."""
    return network_of(upload.tensors, blueprint)


def network_of(tensors: Tensors, blueprint: Blueprint) -> Network:
    """The network whose state is among these tensors, never to be trained again."""
    return next(networks_of([tensors], blueprint))


def networks_of(states: Iterable[Tensors], blueprint: Blueprint) -> Iterator[Network]:
    """The same for many: one is built and initialised, the others have its layers and no tensor of it."""
    first = blueprint.build(torch.Generator()).requires_grad_(False).eval()
    state = first.state_dict()
    shared = {id(part): part for part in (blueprint, *first.parameters(), *first.buffers())}
    for tensors in states:
        network = deepcopy(first, dict(shared))
        copies = {name: torch.empty_like(like).copy_(tensors[name]) for name, like in state.items()}  # layout of `like`
        network.load_state_dict(copies, assign=True)
        yield network
