"""One ridge regression, exactly as if all data were in one place."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import torch

from mooring.fusion._base import Fusion, FusionGroup, Made, Server, ServerCost
from mooring.fusion._frozen_features import Affine, FrozenFeatures, cholesky
from mooring.models import FeatureMap, RandomFilters
from mooring.schema import Doc, Positive
from mooring.types import Upload
from mooring.uploads import Moments, Parts, SummedMoments


@dataclass(frozen=True)
class Analytic(Fusion):
    """score(x) = phi(x) W + b, the ridge regression of one-hot labels on features (AFL: He et al. 2025).

    W = (X'X/n - m m' + ridge I)^-1 (X'Y/n - m q'),  b = q - m W,  m and q the means of X and Y

    X'X and X'Y add up over clients, so the solution does not depend on how the data is divided. Deviations: the
    moments themselves are summed instead of the clients' solutions (the same W, and no regularisation to take back);
    the intercept, not penalised; ridge is per sample.
    """

    kind: ClassVar[str] = "analytic"
    group: ClassVar[FusionGroup] = "one head over statistics: clients train nothing"
    about: ClassVar[str] = "ridge regression on the sums of all clients' features and their products"
    reference: ClassVar[str] = "AFL: He et al., CVPR 2025"
    cost: ClassVar[ServerCost] = "seconds"
    makes: ClassVar[Made] = (FrozenFeatures, Affine)
    streams: ClassVar[bool] = True
    map: Annotated[FeatureMap, Doc("from images to features, see below")] = field(default_factory=RandomFilters)
    ridge: Annotated[Positive, Doc("penalty of the regression, per image")] = 1e-3

    @property
    def needs(self) -> Parts:
        return frozenset({self._moments})

    @property
    def _moments(self) -> Moments:
        return Moments(self.map, "shared")

    def __call__(self, uploads: Sequence[Upload], server: Server) -> FrozenFeatures:
        totals = self._moments.total(uploads)
        phi = self.map.build(server.blueprint)
        return FrozenFeatures(server.blueprint, self.map, phi, ridge(totals, self.ridge), totals.counts > 0)


def ridge(totals: SummedMoments, penalty: float) -> Affine:
    """The regression for the classes that somebody has seen."""
    seen = totals.counts > 0
    n = totals.counts.sum()
    m, q = totals.sums.sum(0) / n, totals.counts[seen] / n  # (d,), (C,)
    x_x = totals.second / n - torch.outer(m, m)
    x_y = totals.sums[seen].T / n - torch.outer(m, q)
    weight = torch.cholesky_solve(x_y, cholesky(x_x + penalty * torch.eye(len(m), dtype=m.dtype)))
    return Affine(weight, q - m @ weight)
