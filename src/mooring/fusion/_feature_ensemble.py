"""The published server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server
from mooring.fusion._ensemble import Ensemble, Members
from mooring.types import Upload
from mooring.uploads import Encoder, Parts, Prototypes


class FeatureEnsemblePredictor(Ensemble):
    kind: ClassVar[str] = "feature-ensemble"
    holds: ClassVar[tuple[str, ...]] = ("prototypes",)
    sides: ClassVar[tuple[int, ...]] = (2,)
    prototypes: Tensor  # (C, d)

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        features = torch.zeros(())
        for share, embedding in zip(self.shares, embeddings, strict=True):
            features = features + share * embedding
        return F.normalize(features) @ self.prototypes.T


@dataclass(frozen=True)
class FeatureEnsemble(Fusion):
    """score_c(x) = F(x)/|F(x)| . P_c,  F(x) = sum_k n_k/n f_k(x),  P = mean_k P_k (FAFI).

    As published: prototypes keep their norms, and prototypes of classes that a client never saw are included
    in the average. Deviation: every model is in eval mode.
    """

    kind: ClassVar[str] = "feature-ensemble"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = (
        "average of the clients' features, weighed by their shares of the data; nearest averaged prototype"
    )
    reference: ClassVar[str] = "FAFI: Zeng et al., ICML 2025"
    makes: ClassVar[Made] = (FeatureEnsemblePredictor,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes()})
    streams: ClassVar[bool] = True

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Ensemble:
        members = Members.of(uploads, server.blueprint)
        return FeatureEnsemblePredictor(members, prototypes=members.prototypes.mean(0))
