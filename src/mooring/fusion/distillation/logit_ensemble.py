"""The teacher of DENSE and of Co-Boosting."""

from collections.abc import Iterable
from typing import ClassVar

import torch
from torch import Tensor

from mooring.fusion.ensemble import Ensemble, Members


class LogitEnsemble(Ensemble):
    """t(x) = sum_k w_k logits_k(x)"""

    kind: ClassVar[str] = "logit-ensemble"
    holds: ClassVar[tuple[str, ...]] = ("weights",)
    sides: ClassVar[tuple[int, ...]] = (1,)
    weights: Tensor  # (K,), sums to 1

    @classmethod
    def even(cls, members: Members) -> "LogitEnsemble":
        """w_k = 1/K"""
        return cls(members, weights=torch.full((len(members.clients),), 1 / len(members.clients)))

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        return self.weighed(network.view(f).logits for network, f in zip(self.networks(), embeddings, strict=True))

    def apart(self, images: Tensor) -> Tensor:
        """Every client's own logits, (K, B, C): what stays when weights change."""
        return torch.stack([network(images).logits for network in self.networks()])

    def weighed(self, logits: Iterable[Tensor]) -> Tensor:
        """sum_k w_k logits_k, (B, C)"""
        scores = torch.zeros(())
        for weight, own in zip(self.weights, logits, strict=True):
            scores = scores + weight * own
        return scores
