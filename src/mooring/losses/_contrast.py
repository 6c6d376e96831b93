"""Supervised contrast: between the views of a batch, with a bank of public features, or with the client's own past
features."""

from dataclasses import dataclass
from math import log
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from mooring.schema import Checked, Doc, Positive
from mooring.types import FeatureBank, Step


@dataclass(frozen=True)
class SupCon(Checked):
    """-mean_i 1/|P(i)| sum_{j in P(i)} log( exp(z_i.z_j/tau) / sum_{k != i} exp(z_i.z_k/tau) )

    P(i) are the other views with the label of i (Khosla et al. 2020, L_out). A sample without any positive
    contributes nothing, which avoids NaN for singletons.
    """

    kind: ClassVar[str] = "supcon"
    temperature: Annotated[Positive, Doc("temperature of the contrast between views")] = 0.07

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


def offered(bank: FeatureBank | None, where: str) -> FeatureBank:
    """The bank that a term was promised."""
    assert bank is not None, f"a term needs a {where} and the recipe has none"
    return bank


def views_of(step: Step) -> tuple[Tensor, Tensor]:
    """All unit features (V * B, d) of a step, and their labels."""
    return torch.cat([view.features for view in step.views]), step.labels.repeat(len(step.views))


@dataclass(frozen=True)
class BankContrast(Checked):
    """SupCon whose positives come from the batch, and whose negatives are the rest of the batch and the whole bank.

    -mean_i 1/|P(i)| sum_{j in P(i)} log( e^{z_i.z_j/tau} / (sum_{k != i} e^{z_i.z_k/tau} + sum_m e^{z_i.b_m/tau}) )

    As in note 1: the bank has no labels; features of a sample's own class therefore repel it too.
    """

    kind: ClassVar[str] = "bank-contrast"
    extra_input: ClassVar[str] = "bank"
    temperature: Annotated[Positive, Doc("temperature of the contrast with other features")] = 0.5

    def __call__(self, step: Step) -> Tensor:
        features, labels = views_of(step)
        bank = offered(step.bank, "public bank").features
        stranger = torch.zeros(len(features), len(bank), dtype=torch.bool, device=features.device)
        return contrast(features, labels, bank, stranger, ~stranger, self.temperature)


@dataclass(frozen=True)
class BankAttraction(Checked):
    """The same contrast with a labelled bank: features of a sample's class attract it, all others repel it."""

    kind: ClassVar[str] = "bank-attraction"
    extra_input: ClassVar[str] = "bank labels"
    temperature: Annotated[Positive, Doc("temperature of the contrast with other features")] = 0.5

    def __call__(self, step: Step) -> Tensor:
        features, labels = views_of(step)
        bank = offered(step.bank, "public bank")
        assert bank.labels is not None, "bank-attraction needs a bank with labels"
        same = labels[:, None] == bank.labels
        return contrast(features, labels, bank.features, same, torch.ones_like(same), self.temperature)


@dataclass(frozen=True)
class MemoryContrast(Checked):
    """SupCon with the client's own past features as further negatives, except features of the sample's own class."""

    kind: ClassVar[str] = "memory-contrast"
    extra_input: ClassVar[str] = "memory"
    temperature: Annotated[Positive, Doc("temperature of the contrast with other features")] = 0.5

    def __call__(self, step: Step) -> Tensor:
        features, labels = views_of(step)
        past = offered(step.memory, "memory")
        assert past.labels is not None, "a memory knows its labels"
        other = labels[:, None] != past.labels
        return contrast(features, labels, past.features, torch.zeros_like(other), other, self.temperature)
