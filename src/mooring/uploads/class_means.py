"""Where a client's own images of each class lie."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from mooring.data.images import ImageSet
from mooring.models.network import PROTOTYPES, Blueprint, Network
from mooring.uploads.model import state_of
from mooring.uploads.part import Tensors, UploadFacts

CLASS_MEANS = "class_means"
BATCH = 512


@dataclass(frozen=True)
class ClassMeans:
    """mu_kc = mean of f_k(x) over the client's images x of class c, (C, d); zero where it has none."""

    kind: ClassVar[str] = "class-means"
    trained: ClassVar[bool] = True

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        with torch.no_grad():
            f = torch.cat([network.embed(batch) for batch in shard.images.split(BATCH)]).double()
        sums = f.new_zeros(network.prototypes.shape).index_add_(0, shard.labels, f)
        counts = torch.tensor(shard.label_counts()).clamp(min=1)
        return {CLASS_MEANS: (sums / counts[:, None]).float()}

    def expected(self, blueprint: Blueprint) -> Tensors:
        return {CLASS_MEANS: state_of(blueprint)[PROTOTYPES]}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        return []  # any vector may be a mean
