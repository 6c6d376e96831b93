"""Where prototypes are moored: C unit vectors that every client knows, and how they move with progress."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from mooring.models import simplex_etf
from mooring.schedules import ScheduleName, at
from mooring.schema import Checked, Doc
from mooring.types import Progress

Anchors = Callable[[Progress], Tensor]  # -> (C, d), unit rows


class Anchor(Protocol):
    """A frozen description of anchors; `initial` are the prototypes (C, d) before training."""

    kind: ClassVar[str]

    def build(self, initial: Tensor, rng: Generator) -> Anchors: ...


@dataclass(frozen=True)
class SimplexEtf:
    """The simplex equiangular tight frame: the directions that neural collapse ends in."""

    kind: ClassVar[str] = "simplex-etf"

    def build(self, initial: Tensor, rng: Generator) -> Anchors:
        anchors = simplex_etf(len(initial), initial.shape[1], rng)
        return lambda _: anchors


@dataclass(frozen=True)
class RandomUnit:
    """Independent directions, uniform on the sphere: the control for the simplex."""

    kind: ClassVar[str] = "random-unit"

    def build(self, initial: Tensor, rng: Generator) -> Anchors:
        anchors = F.normalize(torch.randn(initial.shape, generator=rng))
        return lambda _: anchors


@dataclass(frozen=True)
class Progressive(Checked):
    """From the directions of the initial prototypes to the simplex: normalise(s(p) P_0 + (1 - s(p)) A)."""

    kind: ClassVar[str] = "progressive"
    schedule: Annotated[ScheduleName, Doc("course from the first prototypes to the simplex")] = "linear"

    def build(self, initial: Tensor, rng: Generator) -> Anchors:
        start, end = F.normalize(initial.detach()).clone(), simplex_etf(len(initial), initial.shape[1], rng)

        def anchors(progress: Progress) -> Tensor:
            s = at(self.schedule, progress)
            return F.normalize(s * start + (1 - s) * end)

        return anchors


ANCHORS: dict[str, type[Anchor]] = {
    "simplex-etf": SimplexEtf,
    "random-unit": RandomUnit,
    "progressive": Progressive,
}
