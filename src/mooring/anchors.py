"""Where prototypes are moored: C unit vectors that every client knows, and how they move with progress."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from mooring.errors import ModelError
from mooring.schedules import ScheduleName, at
from mooring.types import Progress

Anchors = Callable[[Progress], Tensor]  # -> (C, d), unit rows


class Anchor(Protocol):
    """A frozen description of anchors; `initial` are the prototypes (C, d) before training."""

    kind: ClassVar[str]

    def build(self, initial: Tensor, rng: Generator) -> Anchors: ...


def simplex_etf(classes: int, dimension: int, rng: Generator) -> Tensor:
    """C unit vectors in R^d with cosine -1/(C-1) between any two, in a random orientation; exists iff d >= C-1.

    The rows of an orthonormal basis V (C x C-1) of the complement of the ones vector form a simplex; Q (C-1 x d) with
    orthonormal rows turns it: A = sqrt(C/(C-1)) V Q.
    """
    if dimension < classes - 1:
        raise ModelError(
            f"a simplex of {classes} anchors needs {classes - 1} feature dimensions, the model has {dimension}",
            "raise model.width or use the anchor random-unit",
        )
    if classes == 1:
        return F.normalize(torch.randn(1, dimension, generator=rng))
    size = classes - 1
    ones = torch.ones(classes, 1, dtype=torch.float64)
    basis = torch.linalg.qr(torch.cat([ones, torch.eye(classes, size, dtype=torch.float64)], 1)).Q[:, 1:]
    turned = torch.linalg.qr(torch.randn(dimension, size, generator=rng, dtype=torch.float64)).Q.T
    simplex: Tensor = (classes / size) ** 0.5 * basis @ turned
    return simplex.float()


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
class Progressive:
    """From the directions of the initial prototypes to the simplex: normalise(s(p) P_0 + (1 - s(p)) A)."""

    kind: ClassVar[str] = "progressive"
    schedule: ScheduleName = "linear"

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
