"""Contrast against features that were made elsewhere: a public bank, or the client's own past."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from mooring.losses._alignment import CosineDistance, MeanSquared
from mooring.losses._supcon import contrast
from mooring.schema import Checked, Doc, Positive
from mooring.types import FeatureBank, Step


def wants(term: object) -> str | None:
    """What a term needs beyond the batch: a bank, its labels, a memory, or anchors."""
    return WANTS.get(type(term))


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

    As in note 1: the bank carries no labels, so that features of a sample's own class repel it too.
    """

    kind: ClassVar[str] = "bank-contrast"
    temperature: Annotated[Positive, Doc("of the contrast with other features")] = 0.5

    def __call__(self, step: Step) -> Tensor:
        features, labels = views_of(step)
        bank = offered(step.bank, "public bank").features
        stranger = torch.zeros(len(features), len(bank), dtype=torch.bool, device=features.device)
        return contrast(features, labels, bank, stranger, ~stranger, self.temperature)


@dataclass(frozen=True)
class BankAttraction(Checked):
    """The same contrast with a labelled bank: features of a sample's class attract it, all others repel it."""

    kind: ClassVar[str] = "bank-attraction"
    temperature: Annotated[Positive, Doc("of the contrast with other features")] = 0.5

    def __call__(self, step: Step) -> Tensor:
        features, labels = views_of(step)
        bank = offered(step.bank, "public bank")
        assert bank.labels is not None, "bank-attraction needs a bank with labels"
        same = labels[:, None] == bank.labels
        return contrast(features, labels, bank.features, same, torch.ones_like(same), self.temperature)


@dataclass(frozen=True)
class MemoryContrast(Checked):
    """SupCon with the client's own past features as further negatives; those of a sample's own class are left out."""

    kind: ClassVar[str] = "memory-contrast"
    temperature: Annotated[Positive, Doc("of the contrast with other features")] = 0.5

    def __call__(self, step: Step) -> Tensor:
        features, labels = views_of(step)
        past = offered(step.memory, "memory")
        assert past.labels is not None, "a memory knows its labels"
        other = labels[:, None] != past.labels
        return contrast(features, labels, past.features, torch.zeros_like(other), other, self.temperature)


WANTS: dict[type, str] = {
    BankContrast: "bank",
    BankAttraction: "bank labels",
    MemoryContrast: "memory",
    MeanSquared: "anchors",
    CosineDistance: "anchors",
}
