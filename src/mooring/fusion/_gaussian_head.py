"""A Gaussian for every class, from moments alone: shared, own or diagonal covariance. No training anywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, Self

import torch
from annotated_types import Gt, Le
from torch import Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server, ServerCost
from mooring.fusion._frozen_features import Affine, FrozenFeatures, cholesky
from mooring.fusion._predictor import Saved, Scorer
from mooring.models import FeatureMap, RandomFilters
from mooring.schema import Doc, Tree
from mooring.types import Upload
from mooring.uploads import Moments, Parts, SecondMomentKind, SummedMoments

LEAST = 1e-12  # variance of features that do not vary at all
Covariance = Literal["shared", "own", "diagonal"]
Prior = Literal["uniform", "counts"]
SECOND: dict[Covariance, SecondMomentKind] = {"shared": "shared", "own": "per-class", "diagonal": "diagonal"}


class Posterior(Scorer):
    """log p(c | x) = log p(x | c) + log p(c) - log p(x)"""

    kind: ClassVar[str] = "posterior"
    holds: ClassVar[tuple[str, ...]] = ("log_prior",)
    sides: ClassVar[tuple[int, ...]] = (1,)
    log_prior: Tensor  # (C,)

    def __init__(self, likelihood: Scorer, log_prior: Tensor) -> None:
        super().__init__()
        self.likelihood = likelihood
        self.hold(log_prior=log_prior)

    def forward(self, x: Tensor) -> Tensor:
        joint: Tensor = self.likelihood(x) + self.log_prior
        return joint.log_softmax(1)

    def tree(self) -> Tree:
        return super().tree() | {"likelihood": self.likelihood.tree()}

    @classmethod
    def restored(cls, saved: Saved) -> Self:
        return cls(saved.scorer("likelihood"), **saved.held(cls))


class Gaussians(Scorer):
    """log p(x | c) = -1/2 |L_c^-1 (x - m_c)|^2 - sum log diag L_c, up to a constant, with S_c = L_c L_c'."""

    kind: ClassVar[str] = "gaussians"
    holds: ClassVar[tuple[str, ...]] = ("means", "inverse")
    sides: ClassVar[tuple[int, ...]] = (2, 3)
    means: Tensor  # (C, d)
    inverse: Tensor  # (C, d, d), L_c^-1

    def __init__(self, means: Tensor, inverse: Tensor) -> None:
        super().__init__()
        self.hold(means=means, inverse=inverse)

    def forward(self, x: Tensor) -> Tensor:
        by_class = zip(self.means, self.inverse, strict=True)
        return torch.stack([log_density((x - m) @ inverse.T, inverse.diag()) for m, inverse in by_class], 1)


class DiagonalGaussians(Scorer):
    """log p(x | c) = -1/2 sum (x - m_c)^2 / v_c - 1/2 sum log v_c, up to a constant."""

    kind: ClassVar[str] = "diagonal-gaussians"
    holds: ClassVar[tuple[str, ...]] = ("means", "variances")
    sides: ClassVar[tuple[int, ...]] = (2, 2)
    means: Tensor  # (C, d)
    variances: Tensor  # (C, d)

    def __init__(self, means: Tensor, variances: Tensor) -> None:
        super().__init__()
        self.hold(means=means, variances=variances)

    def forward(self, x: Tensor) -> Tensor:
        by_class = zip(self.means, self.variances.rsqrt(), strict=True)
        return torch.stack([log_density((x - m) * inverse, inverse) for m, inverse in by_class], 1)


def log_density(whitened: Tensor, inverse: Tensor) -> Tensor:
    """(B, d) and the d inverse standard deviations -> (B,)"""
    return inverse.log().sum() - 0.5 * whitened.square().sum(1)


def shared(totals: SummedMoments, seen: Tensor, shrinkage: float) -> Scorer:
    """S = (X'X - sum_c n_c m_c m_c') / n;  log p(x | c) = x S^-1 m_c - 1/2 m_c S^-1 m_c but for what classes share."""
    n, means = totals.counts[seen], totals.means[seen]
    covariance = (totals.second - (n[:, None] * means).T @ means) / n.sum()
    t = covariance.diag().mean().clamp(min=LEAST)
    shrunk = (1 - shrinkage) * covariance + shrinkage * t * torch.eye(len(covariance), dtype=t.dtype)
    weight = torch.cholesky_solve(means.T, cholesky(shrunk))  # (d, C)
    return Affine(weight, -0.5 * (means.T * weight).sum(0))


def own(totals: SummedMoments, seen: Tensor, shrinkage: float) -> Scorer:
    """S_c = (sum_c x x') / n_c - m_c m_c'"""
    n, means = totals.counts[seen], totals.means[seen]
    covariances = totals.second[seen] / n[:, None, None] - means[:, :, None] * means[:, None, :]
    t = mean_within_variance(covariances.diagonal(dim1=1, dim2=2), n)
    identity = torch.eye(means.shape[1], dtype=t.dtype).expand_as(covariances)
    factors = cholesky((1 - shrinkage) * covariances + shrinkage * t * identity)
    return Gaussians(means, torch.linalg.solve_triangular(factors, identity, upper=False))


def diagonal(totals: SummedMoments, seen: Tensor, shrinkage: float) -> Scorer:
    """v_c = (sum_c x^2) / n_c - m_c^2"""
    n, means = totals.counts[seen], totals.means[seen]
    variances = (totals.second[seen] / n[:, None] - means.square()).clamp(min=0)
    return DiagonalGaussians(means, (1 - shrinkage) * variances + shrinkage * mean_within_variance(variances, n))


def mean_within_variance(variances: Tensor, n: Tensor) -> Tensor:
    """t: the mean over features and images of the variance within classes, (C, d) -> ()"""
    return (n @ variances.mean(1) / n.sum()).clamp(min=LEAST)


LIKELIHOODS: dict[Covariance, Callable[[SummedMoments, Tensor, float], Scorer]] = {
    "shared": shared,
    "own": own,
    "diagonal": diagonal,
}


@dataclass(frozen=True)
class GaussianHead(Fusion):
    """score_c(x) = log p(c | x), p(x | c) = N(phi(x); m_c, S_c), from moments that add up (FedCGS: Guan et al. 2025).

    covariance = shared: one S, linear discriminant analysis; own: S_c, quadratic; diagonal: diag(S_c), naive Bayes.

    S <- (1 - shrinkage) S + shrinkage t I,  t the mean variance within classes

    Deviations: FedCGS has the shared covariance only; shrinkage (Friedman 1989) keeps S invertible whatever d and n.
    """

    kind: ClassVar[str] = "gaussian-head"
    group: ClassVar[FusionGroup] = "one head over statistics: clients train nothing"
    about: ClassVar[str] = "each class a Gaussian with the mean and covariance that the clients' sums give"
    reference: ClassVar[str] = "FedCGS: Guan et al., AAAI 2025"
    cost: ClassVar[ServerCost] = "seconds"
    makes: ClassVar[Made] = (FrozenFeatures, Posterior, Affine, Gaussians, DiagonalGaussians)
    streams: ClassVar[bool] = True
    map: Annotated[FeatureMap, Doc("from images to features, see below")] = field(default_factory=RandomFilters)
    covariance: Annotated[Covariance, Doc("one for all classes, one for each, or the diagonal of each")] = "shared"
    prior: Annotated[Prior, Doc("class prior: their `counts`, or `uniform`")] = "counts"
    shrinkage: Annotated[float, Gt(0), Le(1), Doc("shrinkage of the covariance")] = 0.1

    @property
    def needs(self) -> Parts:
        return frozenset({self._moments})

    @property
    def _moments(self) -> Moments:
        return Moments(self.map, SECOND[self.covariance])

    def __call__(self, uploads: Sequence[Upload], server: Server) -> FrozenFeatures:
        totals = self._moments.total(uploads)
        seen = totals.counts > 0
        n = totals.counts[seen]
        log_prior = (n / n.sum()).log() if self.prior == "counts" else torch.zeros_like(n)
        likelihood = LIKELIHOODS[self.covariance](totals, seen, self.shrinkage)
        phi = self.map.build(server.blueprint)
        return FrozenFeatures(server.blueprint, self.map, phi, Posterior(likelihood, log_prior), seen)
