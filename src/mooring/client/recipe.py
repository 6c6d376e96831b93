"""What a client minimises, as one frozen value."""

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Generator, Tensor

from mooring.anchors import Anchor, SimplexEtf
from mooring.data.augment import Augment
from mooring.losses import LossTerm, MeanSquared
from mooring.models.heads import Head, RawPrototypes
from mooring.types import Count
from mooring.weighting import Annealed, Weighting

Clipping = Literal["joint", "per-group"]


@dataclass(frozen=True)
class Views:
    """`count` augmented views of every image."""

    count: Count = 2
    augment: Augment = field(default_factory=Augment)

    def __call__(self, images: Tensor, mirror: bool, rng: Generator) -> Tensor:
        """uint8 (B, C, H, W) -> (count * B, C, H, W) in [0, 1], one view of all images after the other."""
        return self.augment(torch.cat([images] * self.count), mirror, rng)


@dataclass(frozen=True)
class Alignment:
    """L_a, the anchors it pulls to, and how hard."""

    anchor: Anchor = field(default_factory=SimplexEtf)
    weight: Weighting = field(default_factory=Annealed)
    term: LossTerm = field(default_factory=MeanSquared)


@dataclass(frozen=True)
class ClientRecipe:
    """L_b = sum of terms, the alignment beside it, the head both act on, and how gradients are clipped.

    `joint` clipping takes one norm over encoder, prototypes and weighting together (as published); `per-group` takes
    one for each, so that a large pull on the prototypes cannot silence the encoder.
    """

    terms: tuple[LossTerm, ...]
    align: Alignment | None = None
    head: Head = field(default_factory=RawPrototypes)
    views: Views = field(default_factory=Views)
    clip: Clipping = "joint"

    def named_terms(self) -> tuple[tuple[str, LossTerm], ...]:
        """Every term with the name it is logged under; a second term of a kind gets a number."""
        kinds = [term.kind for term in self.terms]
        names = [
            kind if kinds[:i].count(kind) == 0 else f"{kind}-{kinds[:i].count(kind) + 1}"
            for i, kind in enumerate(kinds)
        ]
        return tuple(zip(names, self.terms, strict=True))
