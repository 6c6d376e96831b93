"""The shape of a fusion rule, and where it happens: uploads in, one predictor out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import torch
from torch import Tensor

from mooring.bounds import Checked
from mooring.data.images import ImageSet
from mooring.events import Emit, silent
from mooring.fusion.predictor import Predictor
from mooring.models.network import PROTOTYPES, Blueprint
from mooring.types import Upload
from mooring.uploads import Parts
from mooring.uploads.classes import LABEL_COUNTS


@dataclass(frozen=True)
class Server:
    """What the server has beside the uploads: the plan of the network, a seed, and perhaps images of its own.

    `public` images anybody may see; `validation` images serve selection and calibration, never the final figure.
    """

    blueprint: Blueprint
    seed: int = 0
    public: ImageSet | None = field(default=None, repr=False)
    validation: ImageSet | None = field(default=None, repr=False)
    emit: Emit = field(default=silent, repr=False)


LOWEST_COSINE = -1.0  # the score of a class that nobody has seen
Images = Literal["public", "validation"]


class Fusion(Checked, Protocol):
    """A rule, what it wants uploaded, and which images the server must have.

    Called through `fuse`, it sees exactly what it needs: at least one upload, by client number, every one checked.

    >>> from mooring.fusion import FUSIONS
    >>> sorted(part.kind for part in FUSIONS["class-expert"]().needs)
    ['encoder', 'label-counts', 'prototypes']
    """

    kind: ClassVar[str]
    streams: ClassVar[bool] = False  # does it read the uploads once, one after the other? Then they stay on disk

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
    return shares_of([upload.samples for upload in uploads])


def shares_of(samples: Sequence[int]) -> Tensor:
    counts = torch.tensor(samples, dtype=torch.float32)
    return counts / counts.sum()


def label_counts_of(uploads: Sequence[Upload]) -> Tensor:
    """n_kc, (K, C)"""
    return torch.stack([upload.tensors[LABEL_COUNTS] for upload in uploads]).float()
