"""A head that leaves the scatter between classes out, and the choice among heads by the sums alone."""

from dataclasses import dataclass, replace
from time import monotonic
from typing import Annotated, ClassVar, Literal

import torch
from torch import Tensor

from mooring.fusion._predictor import FittedHead
from mooring.fusion._solvers import Discriminant, Fit, Ridge, Solver, Standardised, density, pseudo_inverse
from mooring.fusion._unit_columns import UnitColumns
from mooring.schema import Checked, Doc, Positive, to_tree
from mooring.seeds import generator

Towards = Literal["equal", "own"]
STRENGTHS = torch.logspace(-3, 1, 17, dtype=torch.float64)  # four for each power of ten
FREEDOM_LEFT = 0.5  # a strength that leaves less, 1 - h/n, is not looked at: few images say little about new ones there
WIDER = 2.0  # scores of real images have wider tails than Gaussians; of 1, 2 and 3 on set-aside images of three sets
DRAWS = 4000


@dataclass(frozen=True)
class WithinClassRidge(Checked):
    """W = (S + strength D)^-1 m', S the covariance within classes, m the class means, D = I or the diagonal of S.

    The ridge matrix leaves out the scatter between classes (FedCOF: NeurIPS 2025). Scores of an image that was left out
    follow from the sums, with h = tr((S + strength D)^-1 S) the sum of leverages:

    mean of s_j in class c: m_c W_j - [j = c] h / (n_c (1 - h/n)),  covariance within classes: W'SW / (1 - h/n)^2

    Without a strength, the one with the highest `expected_accuracy` of such scores. Deviations from FedCOF: features
    are standardised, and Gaussian posteriors take the place of columns of unit norm.
    """

    kind: ClassVar[str] = "within-class"
    strength: Annotated[
        Positive | None,
        Doc("penalty; `null`: by the highest expected accuracy"),
    ] = None
    towards: Annotated[
        Towards,
        Doc("`equal` penalty for all features, or in units of their `own` variances"),
    ] = "own"

    def __call__(self, moments: Standardised) -> Fit:
        within = moments.within
        spread = within.diagonal() if self.towards == "own" else torch.ones_like(moments.centre)
        scale = torch.where(spread > 0, spread, torch.ones_like(spread)).rsqrt()
        values, vectors = torch.linalg.eigh(within * torch.outer(scale, scale))
        values, means = values.clamp(min=0), moments.means * scale @ vectors  # (d,), (C, d)
        strengths = STRENGTHS if self.strength is None else torch.tensor([self.strength], dtype=values.dtype)
        left = torch.stack([1 - (values / (values + strength)).sum() / moments.n for strength in strengths])
        usable = left >= FREEDOM_LEFT
        usable[-1] |= ~usable.any()
        fits = [
            regressed(moments, values, means, strength, kept)
            for strength, kept in zip(strengths[usable], left[usable].clamp(min=1 / moments.n), strict=True)
        ]
        expected = torch.stack([expected_accuracy(moments, fit) for fit in fits])
        best = int(expected.argmax())
        solver = replace(self, strength=float(strengths[usable][best]))
        return replace(fits[best].after(scale[:, None] * vectors), solver=solver)


def regressed(moments: Standardised, values: Tensor, means: Tensor, strength: Tensor, kept: Tensor) -> Fit:
    """The scores s = xW as the least-squares regression of labels on them, sR + b, by their moments on new images.

    An invertible change of scores changes no Gaussian posterior. These can be compared with those of ridge regression.
    """
    weight = means.T / (values + strength)[:, None]  # W, (d, C)
    optimism = (1 - kept) / (kept * moments.shares)  # h / (n_c (1 - h/n))
    of_classes = means @ weight - torch.diag(optimism)
    within = weight.T * values @ weight / kept.square()
    q = moments.shares
    centre = q @ of_classes
    cross = (of_classes - centre).T * q  # (C, C)
    r = pseudo_inverse(within + cross @ (of_classes - centre)) @ cross
    error = ((q * (1 - q)).sum() - (cross * r).sum()).clamp(min=0) / len(q)
    return Fit(weight @ r, q - centre @ r, (of_classes - centre) @ r + q, r.T @ within @ r, error)


def expected_accuracy(moments: Standardised, fit: Fit) -> Tensor:
    """How often the head is right on draws of the scores of new images, Gaussian in each class and WIDER apart.

    It serves to compare heads, which get the same draws; as an estimate of accuracy it is too low or too high.
    """
    rng = generator(0, "heads")
    label = torch.multinomial(moments.shares, DRAWS, replacement=True, generator=rng)
    values, vectors = torch.linalg.eigh(fit.within)
    noise = torch.randn(DRAWS, len(values), generator=rng, dtype=values.dtype)
    root = vectors * values.clamp(min=0).sqrt() @ vectors.T
    to_density, constant = density(fit)
    joint = (fit.means[label] + WIDER * noise @ root) @ to_density + constant + moments.shares.log()
    right: Tensor = (joint.argmax(1) == label).double().mean()
    return right


# heads whose scores for an image left out follow from the sums, so that the sums alone can compare them
HEADS: tuple[Solver, ...] = (Ridge(), WithinClassRidge(towards="equal"), WithinClassRidge(towards="own"))
ALL_HEADS: tuple[Solver, ...] = (*HEADS, Discriminant(), UnitColumns())


def solve(solver: Solver, moments: Standardised) -> tuple[Fit, FittedHead]:
    """A fit, and what there is to say about it."""
    began = monotonic()
    fit = solver(moments)
    known = isinstance(fit.solver, Ridge | WithinClassRidge)
    expected = float(expected_accuracy(moments, fit)) if known else None
    return fit, FittedHead(to_tree(fit.solver or solver), expected, monotonic() - began)


def heads_of(moments: Standardised) -> tuple[FittedHead, ...]:
    """The heads that the sums can compare, the best first; of equal ones, the simpler first."""
    heads = (solve(solver, moments)[1] for solver in HEADS)
    return tuple(sorted(heads, key=lambda head: -(head.expected_accuracy or 0.0)))


@dataclass(frozen=True)
class Auto(Checked):
    """The head that is best on validation images, if the server has any; else the highest expected accuracy."""

    kind: ClassVar[str] = "auto"

    def __call__(self, moments: Standardised) -> Fit:
        return max((solver(moments) for solver in HEADS), key=lambda fit: float(expected_accuracy(moments, fit)))


def heads_to_try(solver: Solver) -> tuple[Solver, ...]:
    """What is compared on validation images; of equally good ones the first is taken."""
    return ALL_HEADS if isinstance(solver, Auto) else (solver,)


SOLVERS: dict[str, type[Solver]] = {
    "auto": Auto,
    "discriminant": Discriminant,
    "ridge": Ridge,
    "unit-columns": UnitColumns,
    "within-class": WithinClassRidge,
}
