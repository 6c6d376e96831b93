"""The shape of a fusion rule: admitted uploads in, one predictor out."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Protocol

import torch
from torch import Tensor

from mooring.fusion.predictor import Predictor
from mooring.fusion.server import Server
from mooring.models.network import PROTOTYPES, Blueprint, Network
from mooring.types import Upload
from mooring.uploads import Parts
from mooring.uploads.label_counts import LABEL_COUNTS

LOWEST_COSINE = -1.0  # the score of a class that nobody has seen
Images = Literal["public", "validation"]


class Fusion(Protocol):
    """A rule, what it wants uploaded, and which images the server must have.

    Called through `fuse`, it sees exactly what it needs: at least one upload, by client number, every one checked.
    """

    kind: ClassVar[str]

    @property
    def needs(self) -> Parts: ...

    @property
    def asks(self) -> frozenset[Images]:
        return frozenset()

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Predictor: ...


def rebuild(upload: Upload, blueprint: Blueprint) -> Network:
    """A client's network from its upload."""
    return network_of(upload.tensors, blueprint)


def network_of(tensors: Mapping[str, Tensor], blueprint: Blueprint) -> Network:
    """The network whose state is among these tensors, never to be trained again."""
    network = blueprint.build(torch.Generator())
    network.load_state_dict({name: tensors[name] for name in network.state_dict()})
    return network.requires_grad_(False).eval()


def prototypes_of(uploads: Sequence[Upload]) -> Tensor:
    """(K, C, d)"""
    return torch.stack([upload.tensors[PROTOTYPES] for upload in uploads])


def data_shares(uploads: Sequence[Upload]) -> Tensor:
    """n_k / n, (K,)"""
    samples = torch.tensor([float(upload.samples) for upload in uploads])
    return samples / samples.sum()


def label_counts_of(uploads: Sequence[Upload]) -> Tensor:
    """n_kc, (K, C)"""
    return torch.stack([upload.tensors[LABEL_COUNTS] for upload in uploads]).float()
