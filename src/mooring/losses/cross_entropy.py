"""Classification."""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.types import Step


@dataclass(frozen=True)
class CrossEntropy:
    """-log softmax(logits)_y, mean over all views."""

    kind: ClassVar[str] = "cross-entropy"

    def __call__(self, step: Step) -> Tensor:
        logits = torch.cat([view.logits for view in step.views])
        return F.cross_entropy(logits, step.labels.repeat(len(step.views)))
