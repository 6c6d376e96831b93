"""The published server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.fusion.base import Fusion, prototypes_of, received
from mooring.fusion.ensemble import Ensemble
from mooring.fusion.server import Server
from mooring.models.network import Blueprint
from mooring.types import Upload
from mooring.uploads import Encoder, Parts, Prototypes


@dataclass(frozen=True)
class FeatureEnsemble(Fusion):
    """score_c(x) = F(x)/|F(x)| . P_c,  F(x) = sum_k n_k/n f_k(x),  P = mean_k P_k (FAFI).

    As published: prototypes keep their norms, and those of classes a client never saw are averaged in. Deviation:
    every model is in eval mode.
    """

    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes()})
    kind: ClassVar[str] = "feature-ensemble"

    def __call__(self, payloads: Sequence[Upload], server: Server) -> Ensemble:
        return FeatureEnsemblePredictor(received(payloads, self.needs, server.blueprint), server.blueprint)


class FeatureEnsemblePredictor(Ensemble):
    prototypes: Tensor  # (C, d)

    def __init__(self, payloads: Sequence[Upload], blueprint: Blueprint) -> None:
        super().__init__(payloads, blueprint)
        self.register_buffer("prototypes", prototypes_of(payloads).mean(0))

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        features = torch.zeros(())
        for share, embedding in zip(self.shares, embeddings, strict=True):
            features = features + share * embedding
        return F.normalize(features) @ self.prototypes.T
