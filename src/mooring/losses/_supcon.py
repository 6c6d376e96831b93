"""Supervised contrast between the views of a batch."""

from dataclasses import dataclass
from math import log
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from mooring.schema import Checked, Doc, Positive
from mooring.types import Step


@dataclass(frozen=True)
class SupCon(Checked):
    """-mean_i 1/|P(i)| sum_{j in P(i)} log( exp(z_i.z_j/tau) / sum_{k != i} exp(z_i.z_k/tau) )

    P(i) are the other views with the label of i (Khosla et al. 2020, L_out). A sample without any positive
    contributes nothing, so that singletons give a number and not NaN.
    """

    kind: ClassVar[str] = "supcon"
    temperature: Annotated[Positive, Doc("of the contrast between views")] = 0.07

    def __call__(self, step: Step) -> Tensor:
        features = torch.cat([view.features for view in step.views])  # (V * B, d)
        labels = step.labels.repeat(len(step.views))
        return supervised_contrast(features, labels, self.temperature)


def smallest_supcon(label_counts: tuple[int, ...], batch_size: int, views: int) -> float:
    """What SupCon tends to at best: sum_c p_c log(positives of c), all positives in one point, all others far away.

    With p_c the client's label shares a batch of b images has about V b p_c views of class c, one of them the sample.
    """
    total = sum(label_counts)
    batch = min(batch_size, total)
    shares = [count / total for count in label_counts if count]
    return sum(p * log(max(views * batch * p - 1, 1)) for p in shares)


def supervised_contrast(features: Tensor, labels: Tensor, temperature: float) -> Tensor:
    """The SupCon loss of unit features (N, d) under labels (N,)."""
    nobody = torch.empty(len(features), 0, dtype=torch.bool, device=features.device)
    return contrast(features, labels, features[:0].detach(), nobody, nobody, temperature)


def contrast(
    features: Tensor, labels: Tensor, others: Tensor, attracting: Tensor, taking_part: Tensor, temperature: float
) -> Tensor:
    """SupCon among features (N, d) and, from each of them, to `others` (M, d) that get no gradient.

    `attracting` (N, M) says which others are positives, `taking_part` (N, M) which appear at all.
    """
    itself = torch.eye(len(features), dtype=torch.bool, device=features.device)
    similarity = torch.cat([features @ features.T, features @ others.T], 1) / temperature
    hidden = torch.cat([itself, ~taking_part], 1)
    similarity = similarity.masked_fill(hidden, float("-inf"))
    log_share = similarity - similarity.logsumexp(1, keepdim=True)
    positive = torch.cat([(labels[:, None] == labels) & ~itself, attracting & taking_part], 1)
    positives = positive.sum(1)
    per_sample = -log_share.masked_fill(~positive, 0).sum(1) / positives.clamp(min=1)
    return per_sample.sum() / (positives > 0).sum().clamp(min=1)
