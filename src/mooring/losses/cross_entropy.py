"""Classification, plainly and against the skew of a client's labels."""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.bounds import Checked
from mooring.types import NonNegative, Step


@dataclass(frozen=True)
class CrossEntropy:
    """-log softmax(logits)_y, mean over all views."""

    kind: ClassVar[str] = "cross-entropy"

    def __call__(self, step: Step) -> Tensor:
        logits = torch.cat([view.logits for view in step.views])
        return F.cross_entropy(logits, step.labels.repeat(len(step.views)))


@dataclass(frozen=True)
class BalancedCrossEntropy(Checked):
    """-log( n_y^g e^logit_y / sum_c n_c^g e^logit_c ), mean over all views (FedETF's balanced loss).

    With g = 1 a rare class is pushed as far as a frequent one, and a class the client never saw is not pushed at all.
    """

    kind: ClassVar[str] = "balanced-cross-entropy"
    strength: NonNegative = 1.0

    def __call__(self, step: Step) -> Tensor:
        assert step.label_counts is not None, "a client knows its label counts"
        logits = torch.cat([view.logits for view in step.views])
        prior = self.strength * step.label_counts.log() if self.strength else torch.zeros(())
        return F.cross_entropy(logits + prior, step.labels.repeat(len(step.views)))
