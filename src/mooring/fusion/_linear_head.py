"""A linear head from sums over all clients, with probabilities: the head of `mooring`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from mooring.data import batches
from mooring.fusion._base import Fusion, FusionGroup, Images, Made, Server, ServerCost
from mooring.fusion._calibrated import BATCH, best_temperature
from mooring.fusion._frozen_features import Affine, FrozenFeatures, Reduced
from mooring.fusion._gaussian_head import Posterior, Prior
from mooring.fusion._predictor import Confidence, FittedHead, Scorer
from mooring.fusion._solvers import (
    Fit,
    Ridge,
    Solver,
    Standardised,
    as_sure,
    density,
    drawn_scores,
    standardise_moments,
    sureness,
)
from mooring.fusion._within_class import heads_of, heads_to_try, solve
from mooring.models import Blueprint, FeatureMap, PublicEncoder, RandomFilters, feature_reduction, map_for_shape
from mooring.schema import ADDED_LATER, Doc
from mooring.types import Upload
from mooring.uploads import Moments, NoisedMoments, Parts, Precision, Privacy


@dataclass(frozen=True)
class LinearHeadFusion(Fusion):
    """score_c(x) = log p(c | s),  s = z W + b,  z = phi(x) in units of each feature's own spread.

    `solver` finds W from X'X, X'Y and the counts, which add up: the solution does not depend on how the data is
    divided. Its scores are taken for Gaussian in each class, with moments that follow from the same sums,

    log p(c | s) = (s V^-1 m_c - 1/2 m_c V^-1 m_c + log p(c)) / T - log p(s),  m_c and V the means and covariance of s

    and T the temperature fitted on validation images, if the server has any, else `temperature_of`: confidence
    is meaningful without an image at the server. On validation images `solver=auto` also compares the heads.
    Standardising is a linear change and happens after adding up.

    With `privacy` all of it is done on features that were reduced, and on sums that are under noise.
    """

    kind: ClassVar[str] = "linear-head"
    group: ClassVar[FusionGroup] = "one head over statistics: clients train nothing"
    about: ClassVar[str] = (
        "ridge regression on the sums of all clients' features and their products, with probabilities"
    )
    reference: ClassVar[str] = "Mooring, 2026; the sums are those of AFL"
    cost: ClassVar[ServerCost] = "seconds"
    makes: ClassVar[Made] = (FrozenFeatures, Affine, Posterior, Reduced)
    streams: ClassVar[bool] = True
    map: Annotated[FeatureMap, Doc("from images to features, see below")] = field(default_factory=RandomFilters)
    solver: Annotated[Solver, Doc("computes scores from the moments, see below")] = field(default_factory=Ridge)
    prior: Annotated[Prior, Doc("class prior: their `counts`, or `uniform`")] = "counts"
    precision: Annotated[Precision, Doc("type of the uploaded moments")] = "float32"
    privacy: Annotated[Privacy | None, Doc("noise of differential privacy, see below")] = field(
        default=None, metadata={ADDED_LATER: True}
    )

    @property
    def asks(self) -> frozenset[Images]:
        """Public images, where an encoder is still to be trained on them."""
        untrained = isinstance(self.map, PublicEncoder) and self.map.path is None
        return frozenset({"public"}) if untrained else frozenset()

    @property
    def needs(self) -> Parts:
        return frozenset({self._moments})

    @property
    def _moments(self) -> Moments | NoisedMoments:
        if self.privacy is not None:
            return NoisedMoments(self.map, self.privacy)
        return Moments(self.map, "shared", self.precision)

    def __call__(self, uploads: Sequence[Upload], server: Server) -> FrozenFeatures:
        totals = self._moments.total(uploads)
        moments = standardise_moments(totals)
        shares = moments.shares if self.prior == "counts" else torch.full_like(moments.shares, 1 / len(moments.shares))
        features = map_for_shape(self.map, server.blueprint.shape)
        phi = features.build(server.blueprint)

        def predictor(
            found: tuple[Fit, FittedHead], temperature: float, confidence: Confidence = "probability"
        ) -> FrozenFeatures:
            likelihood = gaussian_scores(moments, found[0])
            cooled = Affine(likelihood.weight / temperature, likelihood.bias / temperature)
            head = self._before(Posterior(cooled, shares.log() / temperature), server.blueprint)
            result = FrozenFeatures(server.blueprint, features, phi, head, totals.counts > 0, confidence)
            result.made = found[1]
            return result

        if server.validation:
            heads = [solve(solver, moments) for solver in heads_to_try(self.solver)]
            with torch.no_grad():
                own = [phi(batch) for batch in batches(server.validation.images, BATCH)]
                scores = [scores_of(predictor(found, 1.0), own) for found in heads]
            right = [int((of_head.argmax(1) == server.validation.labels).sum()) for of_head in scores]
            best = right.index(max(right))
            return predictor(heads[best], best_temperature(scores[best], server.validation.labels))
        found = solve(self.solver, moments)
        known = found[0].error is not None and self.privacy is None  # under noise the sums do not tell how sure to be
        return predictor(found, temperature_of(moments, found[0]), "probability" if known else "score")

    def heads(self, uploads: Sequence[Upload]) -> tuple[FittedHead, ...]:
        """All heads from the sums of these uploads, the best first."""
        return heads_of(standardise_moments(self._moments.total(uploads)))

    def _before(self, head: Scorer, blueprint: Blueprint) -> Scorer:
        """What the features become before the head sees them."""
        return (
            head if self.privacy is None else Reduced(*feature_reduction(self.map, blueprint, self.privacy.size), head)
        )


def scores_of(predictor: FrozenFeatures, features: Sequence[Tensor]) -> Tensor:
    return torch.cat([predictor.from_features(batch.double()) for batch in features])


def gaussian_scores(moments: Standardised, fit: Fit) -> Affine:
    """log p(s | c) as a linear function of x, but for what classes share."""
    to_density, constant = density(fit)
    weight = moments.inverse[:, None] * fit.weight @ to_density
    return Affine(weight, fit.bias @ to_density + constant - moments.centre @ weight)


def temperature_of(moments: Standardised, fit: Fit) -> float:
    """T at which these probabilities are, on average, as sure as the soft-max of s / (sigma / 2).

    sigma^2 is the mean squared error of a score for an image left out, which the sums contain. Classes are not
    Gaussians with one covariance, therefore T = 1 is overconfident (2 to 5 is right); regressed scores are right at
    half their error, whatever the classes (found on validation images of CIFAR-10, SVHN and CIFAR-100). Averages
    are over draws of s.
    """
    if fit.error is None or fit.temperature is not None or len(moments.shares) == 1 or fit.error <= 0:
        return 1.0
    s = drawn_scores(moments, fit)
    to_density, constant = density(fit)
    return as_sure(s @ to_density + constant + moments.shares.log(), sureness(s / (fit.error.sqrt() / 2)))
