"""What a client minimises, as one frozen value; and stages, at which it minimises something else."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, Protocol

import torch
from annotated_types import Ge, Le
from torch import Generator, Tensor

from mooring.anchors import Anchor, SimplexEtf
from mooring.data import Augment
from mooring.losses import LossTerm, MeanSquared
from mooring.models import Head, RawPrototypes
from mooring.schema import ADDED_LATER, Checked, Count, Doc, NonNegative, NonNegativeInt, OpenFraction
from mooring.types import Progress
from mooring.weighting import Annealed, Weighting


class StageTime(Protocol):
    """A time, over the progress of the whole training and the epoch within the round."""

    kind: ClassVar[str]

    def __call__(self, progress: Progress) -> bool: ...


@dataclass(frozen=True)
class FirstEpochs(Checked):
    """The first epochs of *every* round: as note 1 has it."""

    kind: ClassVar[str] = "first-epochs"
    epochs: Annotated[NonNegativeInt, Doc("the first epochs of every round")] = 1

    def __call__(self, progress: Progress) -> bool:
        return progress.epoch < self.epochs


@dataclass(frozen=True)
class Before(Checked):
    """The beginning of the whole training, up to this progress."""

    kind: ClassVar[str] = "before"
    progress: Annotated[float, Ge(0), Le(1), Doc("share of the whole training")] = 0.1

    def __call__(self, progress: Progress) -> bool:
        return progress.overall < self.progress


STAGE_TIMES: dict[str, type[StageTime]] = {"first-epochs": FirstEpochs, "before": Before}


@dataclass(frozen=True)
class Stage(Checked):
    """For as long as `when` holds, the loss is the weighted sum of `terms` and nothing else."""

    when: Annotated[StageTime, Doc("a time, see below")]
    terms: Annotated[tuple[LossTerm, ...], Doc("a list of losses")]
    weights: Annotated[tuple[NonNegative, ...] | None, Doc("a number per term; `null`: 1")] = None


Clipping = Literal["joint", "per-group", "none"]


@dataclass(frozen=True)
class Views(Checked):
    """`count` augmented views of every image."""

    count: Annotated[Count, Doc("views of each image in a step")] = 2
    augment: Annotated[Augment, Doc("augmentation of a view")] = field(default_factory=Augment)

    def __call__(self, images: Tensor, mirror: bool, rng: Generator) -> Tensor:
        """uint8 (B, C, H, W) -> (count * B, C, H, W) in [0, 1], one view of all images after the other."""
        return self.augment(torch.cat([images] * self.count), mirror, rng)


@dataclass(frozen=True)
class Alignment(Checked):
    """L_a, the anchors it pulls to (none where it pulls to a bank of features), and how hard.

    >>> from mooring import Alignment
    >>> from mooring.weighting import Fixed
    >>> Alignment(weight=Fixed(3.0)).anchor.kind
    'simplex-etf'
    """

    anchor: Annotated[Anchor | None, Doc("anchors of the prototypes; `null`: a bank")] = field(
        default_factory=SimplexEtf
    )
    weight: Annotated[Weighting, Doc("lambda, the weight of the alignment loss")] = field(default_factory=Annealed)
    term: Annotated[LossTerm, Doc("the alignment loss")] = field(default_factory=MeanSquared)


@dataclass(frozen=True)
class ClientRecipe(Checked):
    """L_b = sum of terms, the alignment, the head that both act on, and how gradients are clipped.

    `joint` clipping takes one norm over encoder, prototypes and weighting together (as published); `per-group` takes
    one for each, because large gradients of the prototypes would suppress the encoder's; `none` clips nothing.

    >>> from mooring import METHODS
    >>> [term.kind for term in METHODS["v4"].client.terms]
    ['cross-entropy', 'supcon', 'feature-to-prototype', 'prototype-spread']
    """

    terms: Annotated[
        tuple[LossTerm, ...],
        Doc("losses whose sum is the base loss; `[]`: no training"),
    ]
    align: Annotated[Alignment | None, Doc("alignment of the prototypes to anchors")] = None
    head: Annotated[Head, Doc("from features to class scores")] = field(default_factory=RawPrototypes)
    views: Annotated[Views, Doc("augmented views of every image")] = field(default_factory=Views)
    clip: Annotated[
        Clipping,
        Doc("gradient norms that are clipped: one (`joint`), or one each for encoder, prototypes and weighting"),
    ] = "joint"
    stages: Annotated[tuple[Stage, ...], Doc("stages with other losses, see below")] = ()
    memory: Annotated[NonNegativeInt, Doc("past features that a client keeps")] = 0
    held_out: Annotated[
        OpenFraction, Doc("share of its images that a client does not train on (for `weight.outer=held-out`)")
    ] = field(default=0.0, metadata={ADDED_LATER: True})

    def stage(self, progress: Progress) -> Stage | None:
        return next((stage for stage in self.stages if stage.when(progress)), None)

    def every_term(self) -> tuple[LossTerm, ...]:
        """All terms that may ever act."""
        aligned = (self.align.term,) if self.align else ()
        return (*self.terms, *aligned, *(term for stage in self.stages for term in stage.terms))


def named_terms(terms: tuple[LossTerm, ...]) -> list[tuple[str, LossTerm]]:
    """Every term with the name it is logged under; a second term of a kind gets a number."""
    kinds = [term.kind for term in terms]
    before = [kinds[:i].count(kind) for i, kind in enumerate(kinds)]
    names = [kind if count == 0 else f"{kind}-{count + 1}" for kind, count in zip(kinds, before, strict=True)]
    return list(zip(names, terms, strict=True))
