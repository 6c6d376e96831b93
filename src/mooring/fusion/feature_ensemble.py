"""The published server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mooring.fusion.base import in_order, prototypes_of
from mooring.fusion.ensemble import Ensemble
from mooring.models.network import Blueprint
from mooring.types import Payload


@dataclass(frozen=True)
class FeatureEnsemble:
    """score_c(x) = F(x)/|F(x)| . P_c,  F(x) = sum_k n_k/n f_k(x),  P = mean_k P_k (FAFI).

    As published: prototypes keep their norms, and those of classes a client never saw are averaged in. Deviation:
    every model is in eval mode.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"encoder", "prototypes"})
    kind: ClassVar[str] = "feature-ensemble"

    def __call__(self, payloads: Sequence[Payload], blueprint: Blueprint) -> nn.Module:
        return FeatureEnsemblePredictor(in_order(payloads), blueprint)


class FeatureEnsemblePredictor(Ensemble):
    prototypes: Tensor  # (C, d)

    def __init__(self, payloads: Sequence[Payload], blueprint: Blueprint) -> None:
        super().__init__(payloads, blueprint)
        self.register_buffer("prototypes", prototypes_of(payloads).mean(0))

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        features = torch.zeros(())
        for share, embedding in zip(self.shares, embeddings, strict=True):
            features = features + share * embedding
        return F.normalize(features) @ self.prototypes.T
