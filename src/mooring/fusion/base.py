"""The shape of a fusion rule: admitted uploads in, one predictor out."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol

import torch
from torch import Tensor

from mooring.bounds import Checked
from mooring.fusion.predictor import Predictor
from mooring.fusion.server import Server
from mooring.models.network import PROTOTYPES
from mooring.types import Upload
from mooring.uploads import Parts
from mooring.uploads.label_counts import LABEL_COUNTS

LOWEST_COSINE = -1.0  # the score of a class that nobody has seen
Images = Literal["public", "validation"]


class Fusion(Checked, Protocol):
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
