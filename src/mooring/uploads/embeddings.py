"""Where a client's embeddings lie as a whole, whatever their class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.data.images import ImageSet
from mooring.models.network import PROTOTYPES, Blueprint, Network
from mooring.uploads.model import state_of
from mooring.uploads.part import Part, Tensors, UploadFacts

MEAN, DEVIATION = "embedding_mean", "embedding_deviation"
SPREAD = "mean and spread of the trained network's features of all images together"
BATCH = 512


@dataclass(frozen=True)
class EmbeddingMoments(Part):
    """m_k and s_k, (d,) each: mean and standard deviation of z_k(x) over the client's own images, without augmentation.

    A dimension that never moves has s_k = 0, and so has every dimension of a client with one image.
    """

    kind: ClassVar[str] = "embedding-moments"
    trained: ClassVar[bool] = True
    counts_images: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        MEAN: SPREAD,
        DEVIATION: SPREAD,
    }

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        with torch.no_grad():
            z = torch.cat([F.normalize(network.embed(batch)) for batch in shard.images.split(BATCH)]).double()
        deviation, mean = torch.std_mean(z, 0, correction=0)
        return {MEAN: mean.float(), DEVIATION: deviation.float()}

    def expected(self, blueprint: Blueprint) -> Tensors:
        one: Tensor = state_of(blueprint)[PROTOTYPES][0]
        return {MEAN: one, DEVIATION: one}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        """Unit vectors: |m| <= 1, and no deviation is negative or above 1."""
        problems = []
        if tensors[MEAN].norm() > 1 + ROUNDING:
            problems.append(f"tensor {MEAN!r} is no mean of unit vectors")
        if ((tensors[DEVIATION] < 0) | (tensors[DEVIATION] > 1 + ROUNDING)).any():
            problems.append(f"tensor {DEVIATION!r} holds what no unit vectors deviate by")
        return problems


ROUNDING = 1e-5
