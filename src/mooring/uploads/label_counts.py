"""How many images of each class stand behind an upload."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mooring.data.images import ImageSet
from mooring.models.network import Blueprint, Network
from mooring.uploads.part import Tensors, UploadFacts, added

LABEL_COUNTS = "label_counts"


@dataclass(frozen=True)
class LabelCounts:
    """n_kc, (C,)"""

    kind: ClassVar[str] = "label-counts"
    trained: ClassVar[bool] = False

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        return {LABEL_COUNTS: torch.tensor(shard.label_counts())}

    def expected(self, blueprint: Blueprint) -> Tensors:
        return {LABEL_COUNTS: torch.empty(blueprint.class_count, dtype=torch.int64, device="meta")}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        return miscounted(LABEL_COUNTS, tensors[LABEL_COUNTS], facts)

    def add(self, a: Tensors, b: Tensors) -> Tensors:
        return added(a, b)


def miscounted(name: str, counts: Tensor, facts: UploadFacts) -> list[str]:
    """n_kc >= 0, and their sum is n_k; one by one, so that no sum runs over."""
    each: list[int] = counts.tolist()
    if min(each) >= 0 and sum(each) == facts.samples:
        return []
    return [f"tensor {name!r} does not add up to its {facts.samples} samples"]
