"""A client counts more for images that are familiar to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.fusion.base import Fusion, FusionGroup, Made, Server, prototypes_of
from mooring.fusion.ensemble import Ensemble, Members
from mooring.schema import Doc, NonNegative
from mooring.types import Upload
from mooring.uploads import Encoder, Parts, Prototypes
from mooring.uploads.embeddings import FEATURE_NORM, FeatureNorm

SHORTEST = 1e-6  # a network whose features all vanish finds nothing familiar


class FamiliarityPredictor(Ensemble):
    kind: ClassVar[str] = "familiarity"
    holds: ClassVar[tuple[str, ...]] = ("prototypes", "norms", "exponent")
    sides: ClassVar[tuple[int, ...]] = (2, 1, 0)
    prototypes: Tensor  # A, (C, d), unit norm
    norms: Tensor  # mean |f_k| over client k's own images, (K,)
    exponent: Tensor  # q, ()

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        features = torch.zeros(())
        for share, norm, f in zip(self.shares, self.norms, embeddings, strict=True):
            familiarity = (f.norm(dim=1, keepdim=True) / norm) ** self.exponent  # r^q, (B, 1)
            features = features + share * familiarity * F.normalize(f)
        return F.normalize(features) @ self.prototypes.T


@dataclass(frozen=True)
class Familiarity(Fusion):
    """score_c(x) = F(x)/|F(x)| . A_c,  F(x) = sum_k n_k/n r_k(x)^q z_k(x),  r_k(x) = |f_k(x)| / mean of |f_k| at k.

    A raw feature is longest for images like those the client was trained on, so its length says how familiar an image
    is to the client. The mean length over the client's own images is uploaded with its model. A is the unit mean of the
    clients' unit prototypes, so a prototype's norm has no influence. With q = 0, F is a plain average of unit features.
    """

    kind: ClassVar[str] = "familiarity"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = (
        "average of unit features, weighted by data share and by how familiar the image is to the client"
    )
    reference: ClassVar[str] = "Mooring, 2026"
    makes: ClassVar[Made] = (FamiliarityPredictor,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes(), FeatureNorm()})
    exponent: Annotated[
        NonNegative, Doc("how strongly familiarity counts; 0 gives a plain average of unit features")
    ] = 3.0

    def __call__(self, uploads: Sequence[Upload], server: Server) -> "FamiliarityPredictor":
        return FamiliarityPredictor(
            Members.of(uploads, server.blueprint),
            prototypes=F.normalize(F.normalize(prototypes_of(uploads), dim=2).mean(0)),
            norms=torch.stack([upload.tensors[FEATURE_NORM][0] for upload in uploads]).clamp(min=SHORTEST),
            exponent=torch.tensor(float(self.exponent)),
        )
