"""Classification losses: cross entropy, and terms on prototypes."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.schema import Checked, Doc, NonNegative, Positive
from mooring.types import Step


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
    strength: Annotated[
        NonNegative,
        Doc("exponent of the label counts; 0 is plain cross entropy"),
    ] = 1.0

    def __call__(self, step: Step) -> Tensor:
        assert step.label_counts is not None, "a client knows its label counts"
        logits = torch.cat([view.logits for view in step.views])
        prior = self.strength * step.label_counts.log() if self.strength else torch.zeros(())
        return F.cross_entropy(logits + prior, step.labels.repeat(len(step.views)))


@dataclass(frozen=True)
class FeatureToPrototype(Checked):
    """-log softmax(z P^T / tau)_y, mean over all views (FAFI).

    With tau = 1 and raw prototypes this is the cross entropy once more: as published.
    """

    kind: ClassVar[str] = "feature-to-prototype"
    temperature: Annotated[Positive, Doc("temperature of the soft-max")] = 1.0

    def __call__(self, step: Step) -> Tensor:
        features = torch.cat([view.features for view in step.views])
        return F.cross_entropy(features @ step.prototypes.T / self.temperature, step.labels.repeat(len(step.views)))


@dataclass(frozen=True)
class FeatureCosine:
    """mean over all views of 1 - cos(z, P_y): features go to the prototype of their class, wherever others lie."""

    kind: ClassVar[str] = "feature-cosine"

    def __call__(self, step: Step) -> Tensor:
        features = torch.cat([view.features for view in step.views])
        own = step.prototypes[step.labels.repeat(len(step.views))]
        return 1 - F.cosine_similarity(features, own).mean()


@dataclass(frozen=True)
class PrototypeSpread(Checked):
    """-log softmax(P P^T / tau)_cc, mean over classes (FAFI); `cosine` takes unit prototypes.

    With raw prototypes of norm sqrt d the loss is dead at the start (the diagonal wins by d): as published.
    """

    kind: ClassVar[str] = "prototype-spread"
    looks_at_views: ClassVar[bool] = False
    temperature: Annotated[Positive, Doc("temperature of the soft-max")] = 1.0
    similarity: Annotated[Literal["dot", "cosine"], Doc("similarity of prototypes")] = "dot"

    def __call__(self, step: Step) -> Tensor:
        prototypes = F.normalize(step.prototypes) if self.similarity == "cosine" else step.prototypes
        classes = torch.arange(len(prototypes), device=prototypes.device)
        return F.cross_entropy(prototypes @ prototypes.T / self.temperature, classes)
