"""What a client minimises, as one frozen value."""

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Generator, Tensor

from mooring.anchors import Anchor, SimplexEtf
from mooring.bounds import Checked
from mooring.client.stages import Stage
from mooring.data.augment import Augment
from mooring.losses import LossTerm, MeanSquared
from mooring.models.heads import Head, RawPrototypes
from mooring.types import Count, NonNegativeInt, Progress
from mooring.weighting import Annealed, Weighting

Clipping = Literal["joint", "per-group"]


@dataclass(frozen=True)
class Views(Checked):
    """`count` augmented views of every image."""

    count: Count = 2
    augment: Augment = field(default_factory=Augment)

    def __call__(self, images: Tensor, mirror: bool, rng: Generator) -> Tensor:
        """uint8 (B, C, H, W) -> (count * B, C, H, W) in [0, 1], one view of all images after the other."""
        return self.augment(torch.cat([images] * self.count), mirror, rng)


@dataclass(frozen=True)
class Alignment(Checked):
    """L_a, the anchors it pulls to (none where it pulls to a bank of features), and how hard."""

    anchor: Anchor | None = field(default_factory=SimplexEtf)
    weight: Weighting = field(default_factory=Annealed)
    term: LossTerm = field(default_factory=MeanSquared)


@dataclass(frozen=True)
class ClientRecipe(Checked):
    """L_b = sum of terms, the alignment beside it, the head both act on, and how gradients are clipped.

    `joint` clipping takes one norm over encoder, prototypes and weighting together (as published); `per-group` takes
    one for each, so that a large pull on the prototypes cannot silence the encoder.
    """

    terms: tuple[LossTerm, ...]
    align: Alignment | None = None
    head: Head = field(default_factory=RawPrototypes)
    views: Views = field(default_factory=Views)
    clip: Clipping = "joint"
    stages: tuple[Stage, ...] = ()  # the first whose time it is takes the place of terms and alignment
    memory: NonNegativeInt = 0  # how many of its own past features a client keeps

    def stage(self, progress: Progress) -> Stage | None:
        return next((stage for stage in self.stages if stage.when(progress)), None)

    def every_term(self) -> tuple[LossTerm, ...]:
        """All terms that may ever act."""
        aligned = (self.align.term,) if self.align else ()
        return (*self.terms, *aligned, *(term for stage in self.stages for term in stage.terms))


def named(terms: tuple[LossTerm, ...]) -> list[tuple[str, LossTerm]]:
    """Every term with the name it is logged under; a second term of a kind gets a number."""
    kinds = [term.kind for term in terms]
    before = [kinds[:i].count(kind) for i, kind in enumerate(kinds)]
    names = [kind if count == 0 else f"{kind}-{count + 1}" for kind, count in zip(kinds, before, strict=True)]
    return list(zip(names, terms, strict=True))
