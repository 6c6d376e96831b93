"""A linear head from sums over all clients, with probabilities: the head of `mooring`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from mooring.fusion.base import Fusion, Server
from mooring.fusion.calibrated import fitted
from mooring.fusion.frozen_features import Affine, FrozenFeatures
from mooring.fusion.gaussian_head import Prior
from mooring.fusion.gaussians import Posterior
from mooring.fusion.solvers import Fit, Ridge, Solver
from mooring.fusion.standardised import Standardised, standardised
from mooring.models.feature_maps import FeatureMap, RandomFilters, settled_map
from mooring.types import Upload
from mooring.uploads import Parts
from mooring.uploads.moments import Moments, Precision

LEAST = 1e-9  # share of the largest variance of scores, below which a direction is none


@dataclass(frozen=True)
class LinearHead(Fusion):
    """score_c(x) = log p(c | s),  s = z W + b,  z = phi(x) in units of each feature's own spread.

    `solver` finds W from X'X, X'Y and the counts, which add up: the solution does not depend on how the data is
    divided. Its scores are taken for Gaussian in each class, with moments that follow from the same sums,

    log p(c | s) = s V^-1 m_c - 1/2 m_c V^-1 m_c + log p(c) - log p(s),  m_c and V the means and covariance of s

    so that confidence means something without an image at the server; with validation images there, a temperature
    fitted on them divides the scores. Standardising is a linear change and happens after adding up.
    """

    kind: ClassVar[str] = "linear-head"
    map: FeatureMap = field(default_factory=RandomFilters)
    solver: Solver = field(default_factory=Ridge)
    prior: Prior = "counts"
    precision: Precision = "float32"

    @property
    def needs(self) -> Parts:
        return frozenset({self._moments})

    @property
    def _moments(self) -> Moments:
        return Moments(self.map, "shared", self.precision)

    def __call__(self, uploads: Sequence[Upload], server: Server) -> FrozenFeatures:
        totals = self._moments.total(uploads)
        moments = standardised(totals)
        likelihood = gaussian_scores(moments, self.solver(moments))
        shares = moments.shares if self.prior == "counts" else torch.full_like(moments.shares, 1 / len(moments.shares))
        features = settled_map(self.map, server.blueprint.shape)
        phi = features.build(server.blueprint)

        def predictor(temperature: float) -> FrozenFeatures:
            cooled = Affine(likelihood.weight / temperature, likelihood.bias / temperature)
            head = Posterior(cooled, shares.log() / temperature)
            return FrozenFeatures(server.blueprint, features, phi, head, totals.counts > 0)

        return predictor(fitted(predictor(1.0), server.validation)) if server.validation else predictor(1.0)


def gaussian_scores(moments: Standardised, fit: Fit) -> Affine:
    """log p(s | c) as a linear function of x, but for what classes share."""
    to_density = pseudo_inverse(fit.within) @ fit.means.T  # V^-1 m', (C, C)
    weight = moments.inverse[:, None] * fit.weight @ to_density
    bias = fit.bias @ to_density - 0.5 * (fit.means.T * to_density).sum(0)
    return Affine(weight, bias - moments.centre @ weight)


def pseudo_inverse(covariance: Tensor) -> Tensor:
    """Scores that sum to one vary in one direction less than there are classes."""
    values, vectors = torch.linalg.eigh(covariance)
    there = values > LEAST * values[-1]
    return vectors[:, there] / values[there] @ vectors[:, there].T
