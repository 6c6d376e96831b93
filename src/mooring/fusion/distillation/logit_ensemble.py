"""The teacher of DENSE and of Co-Boosting."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from mooring.fusion.ensemble import Ensemble
from mooring.models.network import Blueprint
from mooring.types import Upload


class LogitEnsemble(Ensemble):
    """t(x) = sum_k w_k logits_k(x), w_k = 1/K until somebody says otherwise."""

    weights: Tensor  # (K,), sums to 1

    def __init__(self, payloads: Sequence[Upload], blueprint: Blueprint) -> None:
        super().__init__(payloads, blueprint)
        self.register_buffer("weights", torch.full((len(payloads),), 1 / len(payloads)))

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
