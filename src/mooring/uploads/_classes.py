"""Parts about a client's classes: the number of images of each class, and their mean features."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mooring.data import ImageSet, batches
from mooring.models import PROTOTYPES, Blueprint, Network
from mooring.uploads._model import state_of
from mooring.uploads._part import AddsUp, Part, Tensors, UploadFacts, added

LABEL_COUNTS = "label_counts"
IMAGES_BY_CLASS = "how many images of each class the site has"


@dataclass(frozen=True)
class LabelCounts(AddsUp):
    """n_kc, (C,)"""

    kind: ClassVar[str] = "label-counts"
    trained: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        LABEL_COUNTS: IMAGES_BY_CLASS,
    }

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        return {LABEL_COUNTS: torch.tensor(shard.label_counts())}

    def expected(self, blueprint: Blueprint) -> Tensors:
        return {LABEL_COUNTS: torch.empty(blueprint.class_count, dtype=torch.int64, device="meta")}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        return miscounted(LABEL_COUNTS, tensors[LABEL_COUNTS], facts)

    def add(self, a: Tensors, b: Tensors) -> Tensors:
        return added(a, b)


def miscounted(name: str, counts: Tensor, facts: UploadFacts) -> list[str]:
    """n_kc >= 0, and their sum is n_k; checked one by one, because a sum could overflow."""
    each: list[int] = counts.tolist()
    if min(each) >= 0 and sum(each) == facts.samples:
        return []
    return [f"tensor {name!r} does not add up to its {facts.samples} samples"]


CLASS_MEANS = "class_means"
BATCH = 512


@dataclass(frozen=True)
class ClassMeans(Part):
    """mu_kc = mean of f_k(x) over the client's images x of class c, (C, d); zero where it has none."""

    kind: ClassVar[str] = "class-means"
    trained: ClassVar[bool] = True
    counts_images: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        CLASS_MEANS: "for each class, the mean of the trained network's features of its images",
    }

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        with torch.no_grad():
            f = torch.cat([network.embed(batch) for batch in batches(shard.images, BATCH)]).double()
        sums = f.new_zeros(network.prototypes.shape).index_add_(0, shard.labels, f)
        counts = torch.tensor(shard.label_counts()).clamp(min=1)
        return {CLASS_MEANS: (sums / counts[:, None]).float()}

    def expected(self, blueprint: Blueprint) -> Tensors:
        return {CLASS_MEANS: state_of(blueprint)[PROTOTYPES]}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        return []  # any vector may be a mean
