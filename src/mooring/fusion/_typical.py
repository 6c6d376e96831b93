"""How far an image is from the training images: a Gaussian from the same sums as the head, kept small."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor

from mooring.errors import ModelError
from mooring.fusion._solvers import Standardised, standardise_moments
from mooring.seeds import generator
from mooring.types import Upload
from mooring.uploads import Moments, NoisedMoments, Parts

DIRECTIONS = 32  # of largest variance; with 64 or 128 it is as good (studies/unusual.py)
IMAGES_EACH = 10  # images behind every direction: fewer would show something of single images
LEAST = 1e-9  # of the largest variance
ITERATIONS = 10
PREFIX = "typical."
SIDES = {"centre": 1, "inverse": 1, "projection": 2, "shares": 1, "means": 2, "classes": 1, "usual": 0, "rest": 0}


@dataclass(frozen=True)
class Typical:
    """Means of the classes, and the covariance within classes by its leading directions and the mean of the others.

        u = z P, P = (v_j / sqrt(l_j)) for the k largest eigenvalues l_j of S, z = (x - centre) * inverse
        D_c^2 = ( |u - m_c|^2 + |z|^2 / r - sum_j l_j / r u_j^2 ) / usual,   r the mean of the other eigenvalues

    `usual` is the mean of the numerator over the training images, each with its own class: 1 is a typical image. Of the
    features of an image, only k directions and one length are distinguished, and a model holds no more than these.
    Mahalanobis distance with a shared covariance: Lee et al. 2018; the two-part covariance: Tipping and Bishop 1999.
    """

    centre: Tensor  # (d,), float64 as the rest
    inverse: Tensor  # (d,)
    projection: Tensor  # P, (d, k)
    shares: Tensor  # l_j / r, (k,)
    means: Tensor  # m_c, (C seen, k)
    classes: Tensor  # (C seen,), their numbers
    usual: Tensor  # (), of `rest` units
    rest: Tensor  # r, ()

    def by_class(self, x: Tensor) -> Tensor:
        """D_c of features, (B, d) -> (B, C seen)"""
        z = (x.double() - self.centre) * self.inverse
        u = z @ self.projection  # (B, k)
        remainder = (z.square().sum(1) / self.rest - u.square() @ self.shares).clamp(min=0)
        near = (u[:, None] - self.means).square().sum(2)  # (B, C)
        distances: Tensor = ((near + remainder[:, None]) / self.usual).sqrt()
        return distances

    def distance(self, x: Tensor) -> Tensor:
        """From the nearest class, (B, d) -> (B,)"""
        return self.by_class(x).amin(1)

    def tensors(self) -> dict[str, Tensor]:
        """As a model file holds it."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {PREFIX + name: tensor if name == "classes" else tensor.float() for name, tensor in own.items()}

    @classmethod
    def restored(cls, tensors: Mapping[str, Tensor], classes: int) -> Self | None:
        """From the tensors beside a predictor; None if there are none, an error if they do not fit together."""
        own = {name.removeprefix(PREFIX): tensor for name, tensor in tensors.items() if name.startswith(PREFIX)}
        if not own:
            return None
        if own.keys() != {field.name for field in fields(cls)} or not fit_together(own, classes):
            raise ModelError("what it holds of the training images does not fit together", "save it again")
        return cls(**{name: tensor if name == "classes" else tensor.double() for name, tensor in own.items()})


def fit_together(own: Mapping[str, Tensor], classes: int) -> bool:
    """Shapes and types of tensors that anybody may have written."""
    if any(own[name].dim() != sides for name, sides in SIDES.items()):
        return False
    (d, k), seen = own["projection"].shape, len(own["classes"])
    shapes = {"centre": (d,), "inverse": (d,), "shares": (k,), "means": (seen, k)}
    numbers = own["classes"]
    return (
        all(tuple(own[name].shape) == shape for name, shape in shapes.items())
        and all(tensor.dtype == torch.float32 for name, tensor in own.items() if name != "classes")
        and numbers.dtype == torch.int64
        and 0 < seen <= classes
        and bool(((numbers >= 0) & (numbers < classes)).all())
        and bool(own["usual"] > 0)
        and bool(own["rest"] > 0)
    )


def typical_of(needs: Parts, uploads: Sequence[Upload]) -> Typical | None:
    """From the sums of these uploads; None where they are not those of features, or of too few images."""
    parts = [part for part in needs if isinstance(part, NoisedMoments | Moments)]
    if len(parts) != 1 or getattr(parts[0], "second", "shared") != "shared":
        return None
    totals = parts[0].total(uploads)
    return typical_images(standardise_moments(totals), totals.counts)


def typical_images(moments: Standardised, counts: Tensor) -> Typical | None:
    """None where too few images, or features that hardly vary, leave no direction."""
    within = moments.within
    d = int((moments.inverse > 0).sum())
    k = min(DIRECTIONS, int(moments.n) // IMAGES_EACH, d - 1)
    if k < 1:
        return None
    values, vectors = leading(within, k)
    rest = (within.trace() - values.sum()) / (d - k)
    if min(rest, values[0]) <= LEAST * values[-1]:
        return None
    projection = vectors * values.rsqrt()
    beyond = moments.covariance.trace() - (vectors * (moments.covariance @ vectors)).sum()
    return Typical(
        moments.centre,
        moments.inverse,
        projection,
        values / rest,
        moments.means @ projection,
        (counts > 0).nonzero()[:, 0],
        k + beyond / rest,
        rest,
    )


def leading(matrix: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest eigenvalues and their vectors, the largest last; of a large matrix by subspace iteration."""
    d = len(matrix)
    if d <= 4 * k:
        values, vectors = torch.linalg.eigh(matrix)
        return values[-k:], vectors[:, -k:]
    basis = torch.randn(d, 2 * k, generator=generator(0, "typical"), dtype=matrix.dtype)
    for _ in range(ITERATIONS):
        basis = torch.linalg.qr(matrix @ basis).Q
    values, within = torch.linalg.eigh(basis.T @ matrix @ basis)
    return values[-k:], basis @ within[:, -k:]
