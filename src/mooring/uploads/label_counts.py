"""How many images of each class stand behind an upload."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mooring.data.images import ImageSet
from mooring.models.network import Blueprint, Network

LABEL_COUNTS = "label_counts"


@dataclass(frozen=True)
class LabelCounts:
    """n_kc, (C,)"""

    trained: ClassVar[bool] = False

    def __call__(self, network: Network, shard: ImageSet) -> Mapping[str, Tensor]:
        return {LABEL_COUNTS: torch.tensor(shard.label_counts())}

    def expected(self, blueprint: Blueprint) -> Mapping[str, Tensor]:
        return {LABEL_COUNTS: torch.empty(blueprint.classes, dtype=torch.int64, device="meta")}
