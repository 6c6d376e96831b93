"""The interface of a fusion rule: uploads in, one predictor out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import torch
from torch import Tensor

from mooring.data import ImageSet
from mooring.events import Emit, silent
from mooring.fusion._predictor import Predictor, Saveable
from mooring.models import PROTOTYPES, Blueprint
from mooring.schema import Checked
from mooring.types import Upload
from mooring.uploads import LABEL_COUNTS, Parts


@dataclass(frozen=True)
class Server:
    """What the server has besides the uploads: the plan of the network, a seed, and perhaps images of its own.

    Anybody may see `public` images. `validation` images serve selection and calibration, never the final evaluation.
    Rules that train at the server train on `device`; all others compute on the CPU.
    """

    blueprint: Blueprint
    seed: int = 0
    public: ImageSet | None = field(default=None, repr=False)
    validation: ImageSet | None = field(default=None, repr=False)
    emit: Emit = field(default=silent, repr=False)
    device: str = "cpu"


LOWEST_COSINE = -1.0  # the score of a class without training images
Images = Literal["public", "validation"]
FusionGroup = Literal[
    "ensembles: every prediction runs all clients' encoders",
    "one network by merging parameters",
    "one network by training at the server",
    "one head over statistics: clients train nothing",
    "other",
]
ServerCost = Literal["under a second", "seconds", "minutes, it trains"]  # for a few clients on a laptop
ENSEMBLES: FusionGroup = "ensembles: every prediction runs all clients' encoders"
TRAINS_AT_SERVER: ServerCost = "minutes, it trains"
Made = tuple[type[Saveable], ...]


class Fusion(Checked, Protocol):
    """A rule, the parts that clients upload for it, the images that the server must have, and the facts about it.

    `fuse` calls it with exactly what it needs: at least one upload, ordered by client number, all of them checked.
    The lists, the documentation and the reader of model files take the facts from here. All but `kind` have defaults.

    >>> from mooring.fusion import FUSIONS
    >>> sorted(part.kind for part in FUSIONS["class-expert"]().needs)
    ['encoder', 'label-counts', 'prototypes']
    """

    kind: ClassVar[str]
    group: ClassVar[FusionGroup] = "other"
    about: ClassVar[str] = ""  # what it computes, in one line
    reference: ClassVar[str] = ""  # paper and year
    cost: ClassVar[ServerCost] = "under a second"
    makes: ClassVar[Made] = ()  # classes of the predictors it returns and of the modules inside them
    streams: ClassVar[bool] = False  # reads the uploads once, one after the other, so that they can stay on disk

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
