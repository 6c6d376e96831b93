"""Every class is judged by those who have seen it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.fusion._base import LOWEST_COSINE, Fusion, FusionGroup, Made, Server, label_counts_of, prototypes_of
from mooring.fusion._ensemble import Ensemble, Members
from mooring.types import Upload
from mooring.uploads import Encoder, LabelCounts, Parts, Prototypes


class ClassExpertPredictor(Ensemble):
    kind: ClassVar[str] = "class-expert"
    holds: ClassVar[tuple[str, ...]] = ("prototypes", "weights", "seen")
    sides: ClassVar[tuple[int, ...]] = (3, 2, 1)
    prototypes: Tensor  # (K, C, d), unit norm
    weights: Tensor  # (K, C), columns sum to 1 where somebody has seen the class
    seen: Tensor  # (C,), bool

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        scores = torch.zeros(())
        for weight, prototypes, embedding in zip(self.weights, self.prototypes, embeddings, strict=True):
            scores = scores + weight * (F.normalize(embedding) @ prototypes.T)
        return scores.masked_fill(~self.seen, LOWEST_COSINE)


@dataclass(frozen=True)
class ClassExpert(Fusion):
    """score_c(x) = sum_k n_kc/n_c cos(z_k(x), p_kc): features are compared where they were learned, and never averaged.

    A class that no client has seen scores -1, so it is never predicted.
    """

    kind: ClassVar[str] = "class-expert"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = "each class scored only by the clients that have images of it, weighed by how many"
    reference: ClassVar[str] = "Mooring, 2026"
    makes: ClassVar[Made] = (ClassExpertPredictor,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes(), LabelCounts()})

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Ensemble:
        counts = label_counts_of(uploads)
        return ClassExpertPredictor(
            Members.of(uploads, server.blueprint),
            prototypes=F.normalize(prototypes_of(uploads), dim=2),
            weights=counts / counts.sum(0).clamp(min=1),
            seen=counts.sum(0) > 0,
        )
