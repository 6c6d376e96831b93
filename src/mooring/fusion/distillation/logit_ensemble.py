"""The teacher of DENSE and of Co-Boosting."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from mooring.fusion.ensemble import Ensemble
from mooring.models.network import Blueprint
from mooring.types import Payload


class LogitEnsemble(Ensemble):
    """t(x) = sum_k w_k logits_k(x), w_k = 1/K until somebody says otherwise."""

    weights: Tensor  # (K,), sums to 1

    def __init__(self, payloads: Sequence[Payload], blueprint: Blueprint) -> None:
        super().__init__(payloads, blueprint)
        self.register_buffer("weights", torch.full((len(payloads),), 1 / len(payloads)))

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        scores = torch.zeros(())
        for weight, network, embedding in zip(self.weights, self.networks(), embeddings, strict=True):
            scores = scores + weight * network.view(embedding).logits
        return scores
