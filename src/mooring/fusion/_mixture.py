"""The server draws features from the clients' mixtures and trains a head on them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server, ServerCost
from mooring.fusion._frozen_features import Affine, FrozenFeatures
from mooring.models import FeatureMap, RandomFilters
from mooring.schema import Count, Doc, Positive
from mooring.seeds import generator
from mooring.types import Upload
from mooring.uploads import MixtureCovariance, Mixtures, Parts, StackedMixtures

OFFSET = (5**0.5 - 1) / 2  # irrational: a draw never falls on the border of two components
LEAST = 1e-12  # deviation of features that do not vary at all


@dataclass(frozen=True)
class Mixture(Fusion):
    """A linear head trained on `draws` features per class of the pooled mixtures (FedPFT: Beitollahi et al. 2024).

    p(x | c) = sum_k n_kc/n_c sum_j pi_kcj N(x; mu_kcj, v_kcj)
    W, b = argmin mean cross entropy + penalty/2 |W|^2 on features of unit variance

    Deviations: as many draws for every class; and they are systematic (x_i comes from the component that holds the
    quantile (i + .618)/draws, with one noise vector per i), so that a client counted twice changes nothing.
    """

    kind: ClassVar[str] = "mixture"
    group: ClassVar[FusionGroup] = "one head over statistics: clients train nothing"
    about: ClassVar[str] = "a linear head trained on features drawn from the clients' Gaussian mixtures"
    reference: ClassVar[str] = "FedPFT: Beitollahi et al. 2024"
    cost: ClassVar[ServerCost] = "seconds"
    makes: ClassVar[Made] = (FrozenFeatures, Affine)
    map: Annotated[FeatureMap, Doc("from images to features, see below")] = field(default_factory=RandomFilters)
    components: Annotated[Count, Doc("most components per class and client")] = 10
    covariance: Annotated[MixtureCovariance, Doc("covariance of a component")] = "diagonal"
    draws: Annotated[Count, Doc("features drawn per class")] = 100
    penalty: Annotated[Positive, Doc("penalty on the weights of the head")] = 1e-2

    @property
    def needs(self) -> Parts:
        return frozenset({self._mixtures})

    @property
    def _mixtures(self) -> Mixtures:
        return Mixtures(self.map, self.components, self.covariance)

    def __call__(self, uploads: Sequence[Upload], server: Server) -> FrozenFeatures:
        mixtures = self._mixtures.gather(uploads)
        seen = mixtures.counts.sum(0) > 0
        drawn = [draw(mixtures, c, self.draws, server.seed) for c in seen.nonzero().flatten().tolist()]
        phi = self.map.build(server.blueprint)
        return FrozenFeatures(server.blueprint, self.map, phi, linear_head(drawn, self.penalty), seen)


def draw(mixtures: StackedMixtures, c: int, draws: int, seed: int) -> Tensor:
    """Features of class c, (draws, d)."""
    shares = mixtures.counts[:, c] / mixtures.counts[:, c].sum()  # n_kc / n_c
    weights = (shares[:, None] * mixtures.weights[:, c]).T  # (J, K): copies of a client lie side by side
    borders = weights.flatten().cumsum(0)
    quantiles = (torch.arange(draws) + OFFSET) / draws * borders[-1]
    chosen = torch.searchsorted(borders, quantiles, right=True)
    j, k = chosen // len(shares), chosen % len(shares)
    means, variances = mixtures.means[k, c, j], mixtures.variances[k, c, j]
    noise = torch.randn(means.shape, generator=generator(seed, "mixture", c), dtype=means.dtype)
    return means + variances.sqrt() * noise


def linear_head(drawn: Sequence[Tensor], penalty: float) -> Affine:
    """Multinomial logistic regression on the features of each class, (draws, d)."""
    from sklearn.linear_model import LogisticRegression

    x = torch.cat(list(drawn))
    if len(drawn) == 1:
        return Affine(x.new_zeros(x.shape[1], 1), x.new_zeros(1))
    centre = x.mean(0)
    scale = x.var(0).mean().sqrt().clamp(min=LEAST)
    labels = torch.arange(len(drawn)).repeat_interleave(len(drawn[0]))
    model = LogisticRegression(C=1 / (penalty * len(x)), max_iter=1000)
    model.fit(((x - centre) / scale).numpy(), labels.numpy())
    weight, bias = torch.from_numpy(model.coef_).T / scale, torch.from_numpy(model.intercept_)
    if len(drawn) == 2:  # scikit-learn gives the log-odds of the second class
        weight, bias = torch.cat([-weight / 2, weight / 2], 1), torch.cat([-bias / 2, bias / 2])
    return Affine(weight, bias - centre @ weight)
