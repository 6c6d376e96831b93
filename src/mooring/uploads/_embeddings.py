"""Statistics of the trained network's embeddings of a client's own images, whatever their class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.data import ImageSet, batches
from mooring.models import PROTOTYPES, Blueprint, Network
from mooring.uploads._model import state_of
from mooring.uploads._part import Part, Tensors, UploadFacts

EMBEDDING_MEAN, EMBEDDING_STD = "embedding_mean", "embedding_deviation"
PROTOTYPE_RESPONSE = "prototype_response"
SPREAD = "mean and spread of the trained network's features of all images together"
BATCH = 512
ROUNDING = 1e-5


@dataclass(frozen=True)
class EmbeddingMoments(Part):
    """m_k and s_k, (d,) each: mean and standard deviation of z_k(x) over the client's own images, without augmentation.

    A dimension that never moves has s_k = 0, and so has every dimension of a client with one image.
    """

    kind: ClassVar[str] = "embedding-moments"
    trained: ClassVar[bool] = True
    counts_images: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        EMBEDDING_MEAN: SPREAD,
        EMBEDDING_STD: SPREAD,
    }

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        with torch.no_grad():
            parts = [shard.images[start : start + BATCH] for start in range(0, len(shard), BATCH)]
            z = torch.cat([F.normalize(network.embed(batch)) for batch in parts]).double()
        deviation, mean = torch.std_mean(z, 0, correction=0)
        return {EMBEDDING_MEAN: mean.float(), EMBEDDING_STD: deviation.float()}

    def expected(self, blueprint: Blueprint) -> Tensors:
        one: Tensor = state_of(blueprint)[PROTOTYPES][0]
        return {EMBEDDING_MEAN: one, EMBEDDING_STD: one}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        """Unit vectors: |m| <= 1, and no deviation is negative or above 1."""
        problems = []
        if tensors[EMBEDDING_MEAN].norm() > 1 + ROUNDING:
            problems.append(f"tensor {EMBEDDING_MEAN!r} is not a mean of unit vectors")
        if ((tensors[EMBEDDING_STD] < 0) | (tensors[EMBEDDING_STD] > 1 + ROUNDING)).any():
            problems.append(f"tensor {EMBEDDING_STD!r} holds what no unit vectors deviate by")
        return problems


@dataclass(frozen=True)
class PrototypeResponse(Part):
    """Mean over the client's own images of max_c <f_k(x), P_kc> over its classes, P_kc of unit norm, (1,).

    Without augmentation. It is the scale on which a new image is familiar to the client or not.
    """

    kind: ClassVar[str] = "prototype-response"
    trained: ClassVar[bool] = True
    counts_images: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        PROTOTYPE_RESPONSE: "how strongly the trained network responds to all images together, on average",
    }

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        held = torch.tensor(shard.label_counts()) > 0
        with torch.no_grad():
            own = F.normalize(network.prototypes)[held]
            responses = [(network.embed(batch) @ own.T).amax(1) for batch in batches(shard.images, BATCH)]
        return {PROTOTYPE_RESPONSE: torch.cat(responses).double().mean().float()[None]}

    def expected(self, blueprint: Blueprint) -> Tensors:
        return {PROTOTYPE_RESPONSE: torch.empty(1, device="meta")}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        """Any finite number is possible."""
        return []
