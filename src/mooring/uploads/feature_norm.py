"""How long a client's features of its own images are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch

from mooring.data.images import ImageSet, batches
from mooring.models.network import Blueprint, Network
from mooring.uploads.part import Part, Tensors, UploadFacts

FEATURE_NORM = "feature_norm"
BATCH = 512


@dataclass(frozen=True)
class FeatureNorm(Part):
    """Mean and standard deviation of |f_k(x)| over the client's own images, without augmentation, (2,)."""

    kind: ClassVar[str] = "feature-norm"
    trained: ClassVar[bool] = True
    counts_images: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        FEATURE_NORM: "mean and spread of the length of the trained network's features of all images together",
    }

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        with torch.no_grad():
            norms = torch.cat([network.embed(batch).norm(dim=1) for batch in batches(shard.images, BATCH)]).double()
        deviation, mean = torch.std_mean(norms, correction=0)
        return {FEATURE_NORM: torch.stack([mean, deviation]).float()}

    def expected(self, blueprint: Blueprint) -> Tensors:
        return {FEATURE_NORM: torch.empty(2, device="meta")}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        mean, deviation = tensors[FEATURE_NORM].tolist()
        if mean >= 0 and deviation >= 0:
            return []
        return [f"tensor {FEATURE_NORM!r} holds a negative length or deviation"]
