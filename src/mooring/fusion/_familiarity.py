"""A client counts more for images that are familiar to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.fusion._base import LOWEST_COSINE, Fusion, FusionGroup, Made, Server, label_counts_of, prototypes_of
from mooring.fusion._ensemble import Ensemble, Members
from mooring.schema import Doc, NonNegative
from mooring.types import Upload
from mooring.uploads import FEATURE_NORM, Encoder, FeatureNorm, LabelCounts, Parts, Prototypes

SHORTEST = 1e-6  # a network whose features all vanish finds nothing familiar
LEAST = 1e-30  # of a sum of weights: where nothing is familiar to anybody, all scores are 0


class FamiliarityPredictor(Ensemble):
    kind: ClassVar[str] = "familiarity"
    holds: ClassVar[tuple[str, ...]] = ("prototypes", "norms", "held", "exponent")
    sides: ClassVar[tuple[int, ...]] = (2, 1, 2, 0)
    prototypes: Tensor  # A, (C, d), unit norm
    norms: Tensor  # mean |f_k| over client k's own images, (K,)
    held: Tensor  # h, (K, C), 1 where the client has images of the class, else 0
    exponent: Tensor  # q, ()

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        scores = weights = torch.zeros(())
        for share, norm, held, f in zip(self.shares, self.norms, self.held, embeddings, strict=True):
            weight = share * (f.norm(dim=1, keepdim=True) / norm) ** self.exponent  # n_k/n r_k^q, (B, 1)
            scores = scores + weight * held * (F.normalize(f) @ self.prototypes.T)
            weights = weights + weight
        return (scores / weights.clamp(min=LEAST)).masked_fill(self.held.sum(0) == 0, LOWEST_COSINE)


@dataclass(frozen=True)
class Familiarity(Fusion):
    """score_c(x) = sum_k w_k(x) h_kc cos(f_k(x), A_c) / sum_k w_k(x),  w_k(x) = n_k/n r_k(x)^q

    r_k(x) = |f_k(x)| / mean of |f_k| over client k's images: a raw feature is longest for images like those the client
    was trained on, so its length says how familiar an image is to the client. The mean is uploaded with the model.
    h_kc is 1 where client k has images of class c: a client votes only for classes that it knows. A is the unit mean of
    the clients' unit prototypes, so a prototype's norm has no influence. A class without training images scores -1.
    """

    kind: ClassVar[str] = "familiarity"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = (
        "each client votes for its own classes, weighted by data share and by how familiar the image is to it"
    )
    reference: ClassVar[str] = "Mooring, 2026"
    makes: ClassVar[Made] = (FamiliarityPredictor,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes(), LabelCounts(), FeatureNorm()})
    exponent: Annotated[NonNegative, Doc("how strongly familiarity counts; 0 weights clients by data share alone")] = (
        3.0
    )

    def __call__(self, uploads: Sequence[Upload], server: Server) -> "FamiliarityPredictor":
        return FamiliarityPredictor(
            Members.of(uploads, server.blueprint),
            prototypes=F.normalize(F.normalize(prototypes_of(uploads), dim=2).mean(0)),
            norms=torch.stack([upload.tensors[FEATURE_NORM][0] for upload in uploads]).clamp(min=SHORTEST),
            held=(label_counts_of(uploads) > 0).float(),
            exponent=torch.tensor(float(self.exponent)),
        )
