"""The shape of a part of an upload."""

from collections.abc import Mapping
from hashlib import sha256
from typing import ClassVar, Protocol

from torch import Tensor

from mooring.data.images import ImageSet
from mooring.models.network import Blueprint, Network


class Part(Protocol):
    """A frozen value: what a client computes from its trained network and its own images, the same in every process."""

    trained: ClassVar[bool]  # does it depend on the trained network, or on the images alone?

    def __call__(self, network: Network, shard: ImageSet) -> Mapping[str, Tensor]: ...

    def expected(self, blueprint: Blueprint) -> Mapping[str, Tensor]:
        """Names, shapes and types of the tensors (on the meta device): what a server checks an upload against."""
        ...


Parts = frozenset[Part]


def extract(parts: Parts, network: Network, shard: ImageSet) -> dict[str, Tensor]:
    """Copies of the tensors of all parts, by name."""
    tensors = [item for part in parts for item in part(network, shard).items()]
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in sorted(tensors, key=lambda i: i[0])}


def label(part: Part) -> str:
    """A name for the tensors of a part with settings of its own: other settings, other name."""
    return sha256(repr(part).encode()).hexdigest()[:8]
