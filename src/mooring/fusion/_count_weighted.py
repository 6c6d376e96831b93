"""The ensemble that survives skew."""

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


class CountWeightedPredictor(Ensemble):
    kind: ClassVar[str] = "count-weighted"
    holds: ClassVar[tuple[str, ...]] = ("prototypes", "seen")
    sides: ClassVar[tuple[int, ...]] = (2, 1)
    prototypes: Tensor  # (C, d), unit norm
    seen: Tensor  # (C,), bool

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        features = torch.zeros(())
        for share, embedding in zip(self.shares, embeddings, strict=True):
            features = features + share * F.normalize(embedding)
        scores = F.normalize(features) @ self.prototypes.T
        return scores.masked_fill(~self.seen, LOWEST_COSINE)


@dataclass(frozen=True)
class CountWeighted(Fusion):
    """Unit features, and prototypes weighted by who has seen how much of the class.

    score_c(x) = F(x)/|F(x)| . P_c,  F(x) = sum_k n_k/n z_k(x),  P_c = normalise( sum_k n_kc/n_c P_kc/|P_kc| )

    A class that nobody has seen scores -1: it never wins by an artefact.
    """

    kind: ClassVar[str] = "count-weighted"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = (
        "average of unit features; each prototype averaged over those clients that have images of its class"
    )
    reference: ClassVar[str] = "Mooring, 2026"
    makes: ClassVar[Made] = (CountWeightedPredictor,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes(), LabelCounts()})

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Ensemble:
        counts = label_counts_of(uploads)  # (K, C)
        shares = counts / counts.sum(0).clamp(min=1)
        units = F.normalize(prototypes_of(uploads), dim=2)
        prototypes = F.normalize(torch.einsum("kc,kcd->cd", shares, units))
        members = Members.of(uploads, server.blueprint)
        return CountWeightedPredictor(members, prototypes=prototypes, seen=counts.sum(0) > 0)
