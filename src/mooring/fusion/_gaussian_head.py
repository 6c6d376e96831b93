"""Every class a Gaussian: no training anywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import torch
from annotated_types import Gt, Le
from torch import Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server, ServerCost
from mooring.fusion._frozen_features import Affine, FrozenFeatures
from mooring.fusion._gaussians import DiagonalGaussians, Gaussians, Posterior, diagonal, own, shared
from mooring.fusion._predictor import Scorer
from mooring.models import FeatureMap, RandomFilters
from mooring.schema import Doc
from mooring.types import Upload
from mooring.uploads import Moments, Parts, Second, Totals

Covariance = Literal["shared", "own", "diagonal"]
Prior = Literal["uniform", "counts"]
SECOND: dict[Covariance, Second] = {"shared": "shared", "own": "per-class", "diagonal": "diagonal"}
LIKELIHOODS: dict[Covariance, Callable[[Totals, Tensor, float], Scorer]] = {
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
    covariance: Annotated[Covariance, Doc("one for all classes, `own` ones, or their `diagonal`")] = "shared"
    prior: Annotated[Prior, Doc("of the classes: as frequent as they were, or `uniform`")] = "counts"
    shrinkage: Annotated[float, Gt(0), Le(1), Doc("of the covariance towards equal variances, above 0 up to 1")] = 0.1

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
