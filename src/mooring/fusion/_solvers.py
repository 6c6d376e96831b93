"""Linear scores from moments alone: ridge regression and linear discriminants."""

from dataclasses import dataclass, replace
from math import exp, log
from typing import Annotated, ClassVar, Protocol

import torch
from torch import Tensor

from mooring.fusion._calibrated import COLDEST, HOTTEST
from mooring.fusion._frozen_features import cholesky
from mooring.schema import Checked, Doc, Positive
from mooring.seeds import generator
from mooring.uploads import SummedMoments

STRENGTHS = torch.logspace(-6, 1, 29, dtype=torch.float64)  # four for each power of ten
ROUNDING = 1e-6  # of the largest eigenvalue: below it lies what float32 sums are off by
FITTED = 1e-5  # of the labels' variance: a smaller residual is none
LEAST = 1e-9  # share of the largest variance of scores, below which a direction is none
DRAWS, HALVINGS = 4000, 40  # to find a temperature
CONSTANT = 1e-5  # variance over squared mean, below which rounding makes up most of a feature's variance


@dataclass(frozen=True)
class Standardised:
    """First and second moments of z = (x - centre) / spread, for the classes that somebody has seen."""

    n: Tensor  # ()
    shares: Tensor  # q, (C,)
    centre: Tensor  # (d,)
    inverse: Tensor  # (d,), 1 / spread; 0 for a feature that does not vary
    covariance: Tensor  # T, (d, d), of all images
    means: Tensor  # (C, d), of each class

    @property
    def cross(self) -> Tensor:
        """Z'Y / n for centred one-hot labels Y, (d, C)"""
        return self.means.T * self.shares

    @property
    def within(self) -> Tensor:
        """S = T - sum_c q_c m_c m_c', (d, d)"""
        return self.covariance - self.cross @ self.means


def standardise_moments(totals: SummedMoments) -> Standardised:
    """Moments in units of each feature's own spread: a linear change, made after all clients were added up."""
    seen = totals.counts > 0
    counts, sums = totals.counts[seen], totals.sums[seen]
    n = counts.sum()
    centre = sums.sum(0) / n
    covariance = totals.second / n - torch.outer(centre, centre)
    variance = covariance.diagonal()
    varies = variance > CONSTANT * centre.square()
    inverse = torch.where(varies, variance, torch.ones_like(variance)).rsqrt() * varies
    return Standardised(
        n,
        counts / n,
        centre,
        inverse,
        covariance * torch.outer(inverse, inverse),
        (sums / counts[:, None] - centre) * inverse,
    )


@dataclass(frozen=True)
class Fit:
    """Scores of standardised features, s = z W + b, and their moments in each class as new images would have them."""

    weight: Tensor  # W, (d, C)
    bias: Tensor  # b, (C,)
    means: Tensor  # (C, C), of s in each class
    within: Tensor  # (C, C), of s within classes
    error: Tensor | None = None  # (), mean squared error of a score for an image left out, where it is known
    solver: "Solver | None" = None  # that made it, with the strength that the sums chose
    temperature: Tensor | None = None  # (), of scores that are used as they are, p(c | s) ~ q_c exp(s_c / temperature)

    def after(self, change: Tensor) -> "Fit":
        """The same scores for z with z @ change = x, where these are scores of x."""
        return replace(self, weight=change @ self.weight)


def drawn_scores(moments: Standardised, fit: Fit) -> Tensor:
    """Scores of new images of all classes, Gaussian in each, (DRAWS, C)"""
    rng = generator(0, "temperature")
    label = torch.multinomial(moments.shares, DRAWS, replacement=True, generator=rng)
    values, vectors = torch.linalg.eigh(fit.within)
    noise = torch.randn(DRAWS, len(values), generator=rng, dtype=values.dtype)
    drawn: Tensor = fit.means[label] + noise * values.clamp(min=0).sqrt() @ vectors.T
    return drawn


def sureness(scores: Tensor) -> Tensor:
    """The mean of the largest probability."""
    mean: Tensor = scores.softmax(1).amax(1).mean()
    return mean


def as_sure(joint: Tensor, wanted: Tensor) -> float:
    """T at which the soft-max of joint / T is as sure as wanted, between COLDEST and HOTTEST."""
    cold, hot = log(COLDEST), log(HOTTEST)
    for _ in range(HALVINGS):
        middle = (cold + hot) / 2
        cold, hot = (middle, hot) if sureness(joint / exp(middle)) >= wanted else (cold, middle)  # both may be 1
    return exp(cold)


class Solver(Protocol):
    """A frozen rule from moments to linear scores."""

    kind: ClassVar[str]

    def __call__(self, moments: Standardised) -> Fit: ...


@dataclass(frozen=True)
class Ridge(Checked):
    """W = (T + strength I)^-1 Z'Y/n, the regression of one-hot labels on standardised features.

    Without a strength, the one with the least generalised cross-validation error (Golub, Heath and Wahba 1979):

    GCV = (|Y - ZW|^2 / n) / (1 - p/n)^2,  p = 1 + sum_j e_j / (e_j + strength),  e_j the eigenvalues of T

    Both terms are functions of the sums. A strength that leaves less than one image's freedom, p > n - 1, is not looked
    at: with fewer images than features the residual is rounding there, and says nothing of new images. There n is how
    many images are distinct: of one that is there twice, the second leaves no freedom. Scores of images that were
    fitted are too good; those of new ones are taken to be y - (y - s) / (1 - p/n), the scores with the image left out,
    of average leverage.
    """

    kind: ClassVar[str] = "ridge"
    strength: Annotated[
        Positive | None,
        Doc("penalty of the regression; `null`: by generalised cross-validation"),
    ] = None

    def __call__(self, moments: Standardised) -> Fit:
        values, vectors = torch.linalg.eigh(moments.covariance)
        values = values.clamp(min=0)
        along = vectors.T @ moments.cross  # (d, C)
        moments = replace(moments, n=distinct_images(values, along.square().sum(1), moments))
        strengths = STRENGTHS if self.strength is None else torch.tensor([self.strength], dtype=values.dtype)
        errors = torch.stack([gcv(values, along.square().sum(1), moments, strength) for strength in strengths])
        tellable = bool(errors.isfinite().any())
        chosen = int(errors.argmin()) if tellable else len(strengths) - 1
        error, strength = errors[chosen] / len(moments.shares), strengths[chosen]
        weight = vectors @ (along / (values + strength)[:, None])
        kept = left(values, strength, moments.n)
        one_hot = torch.eye(len(moments.shares), dtype=weight.dtype)
        means = one_hot - (one_hot - moments.shares - moments.means @ weight) / kept
        within = weight.T @ moments.within @ weight / kept.square()
        return Fit(weight, moments.shares, means, within, error if tellable else None, Ridge(float(strength)))


def distinct_images(values: Tensor, along: Tensor, moments: Standardised) -> Tensor:
    """n; or rank(T) + 1, the images that are not copies of others, where features to spare fit every label."""
    there = values > ROUNDING * values[-1]
    total = (moments.shares * (1 - moments.shares)).sum()
    spare = there.sum() < (moments.inverse > 0).sum()
    fitted = total - (along[there] / values[there]).sum() < FITTED * total
    return torch.minimum(moments.n, there.sum() + 1) if spare and fitted else moments.n


def freedom(values: Tensor, strength: Tensor) -> Tensor:
    """p"""
    return 1 + (values / (values + strength)).sum()


def gcv(values: Tensor, along: Tensor, moments: Standardised, strength: Tensor) -> Tensor:
    total = (moments.shares * (1 - moments.shares)).sum()
    explained = (along / (values + strength) * (2 - values / (values + strength))).sum()
    error = (total - explained) / left(values, strength, moments.n).square()
    return torch.where(freedom(values, strength) > moments.n - 1, torch.inf, error)


def left(values: Tensor, strength: Tensor, n: Tensor) -> Tensor:
    """1 - p/n, and not less than one image's share"""
    return (1 - freedom(values, strength) / n).clamp(min=1 / n)


@dataclass(frozen=True)
class Discriminant(Checked):
    """W = S_r^-1 m', S_r = (1 - shrinkage) S + shrinkage t I: linear discriminant analysis (Friedman 1989)."""

    kind: ClassVar[str] = "discriminant"
    shrinkage: Annotated[
        Positive,
        Doc("linear discriminant analysis: shrinkage of the covariance"),
    ] = 0.1

    def __call__(self, moments: Standardised) -> Fit:
        within = moments.within
        t = within.diagonal().mean()
        shrunk = (1 - self.shrinkage) * within + self.shrinkage * t * torch.eye(len(within), dtype=within.dtype)
        weight = torch.cholesky_solve(moments.means.T, cholesky(shrunk))
        means, spread = moments.means @ weight, weight.T @ shrunk @ weight
        return Fit(weight, torch.zeros_like(moments.shares), means, spread, solver=self)


def density(fit: Fit) -> tuple[Tensor, Tensor]:
    """A = V^-1 m' (C, C) and c = -1/2 m V^-1 m' (C,): log p(s | c) = s A + c, up to what classes share"""
    if fit.temperature is not None:
        return torch.eye(len(fit.bias), dtype=fit.bias.dtype) / fit.temperature, torch.zeros_like(fit.bias)
    to_density = pseudo_inverse(fit.within) @ fit.means.T
    return to_density, -0.5 * (fit.means.T * to_density).sum(0)


def pseudo_inverse(covariance: Tensor) -> Tensor:
    """Scores that sum to one vary in one direction less than there are classes."""
    values, vectors = torch.linalg.eigh(covariance)
    there = values > LEAST * values[-1]
    inverse: Tensor = vectors[:, there] / values[there] @ vectors[:, there].T
    return inverse
