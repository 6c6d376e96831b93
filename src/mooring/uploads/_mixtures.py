"""A mixture of Gaussians for the features of every class."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mooring.data import ImageSet, batches, select_images
from mooring.models import Blueprint, FeatureMap, Network, placed_with
from mooring.schema import Checked, Count, Positive
from mooring.types import Upload
from mooring.uploads._classes import IMAGES_BY_CLASS, miscounted
from mooring.uploads._part import FEATURE_BATCH, Part, Tensors, UploadFacts, wire_name

MixtureCovariance = Literal["diagonal", "spherical"]
FloatArray = NDArray[np.float64]
IMAGES_EACH = 10  # behind a component: fewer would make its mean a copy of an image
ROUNDING = 1e-3
SKLEARN: dict[MixtureCovariance, str] = {"diagonal": "diag", "spherical": "spherical"}


@dataclass(frozen=True)
class StackedMixtures:
    """The mixtures of K clients side by side, in float64."""

    counts: Tensor  # (K, C)
    weights: Tensor  # (K, C, J), sum to 1 over J where the client has the class
    means: Tensor  # (K, C, J, d)
    variances: Tensor  # (K, C, J, d), or (K, C, J, 1) when spherical


@dataclass(frozen=True)
class Mixtures(Checked, Part):
    """p(x | c) = sum_j pi_j N(x; mu_j, diag(v_j)) for x = phi(image), fitted by expectation maximisation.

    Every client sends J components per class; those it has no use for (a small class, or none) have weight 0.
    """

    kind: ClassVar[str] = "mixtures"
    trained: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        "mixtures.counts": IMAGES_BY_CLASS,
        "mixtures.": "a mixture of Gaussians fitted to the features of each class: shares, centres or spreads",
    }
    map: FeatureMap
    components: Count = 10
    covariance: MixtureCovariance = "diagonal"
    floor: Positive = 1e-4  # added to every variance

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        phi = placed_with(self.map.build(network.blueprint), network)
        tensors = {name: torch.zeros(t.shape, dtype=t.dtype) for name, t in self.expected(network.blueprint).items()}
        counts, weights, means, variances = tensors.values()
        counts += torch.tensor(shard.label_counts())
        for c in counts.nonzero().flatten().tolist():
            own = select_images(shard.images, shard.labels == c)
            x = torch.cat([phi(images) for images in batches(own, FEATURE_BATCH)]).double().numpy()  # (n_c, d)
            pi, mu, v = self._fit(x)
            weights[c, : len(pi)] = torch.from_numpy(pi)
            means[c, : len(pi)] = torch.from_numpy(mu)
            variances[c, : len(pi)] = torch.from_numpy(v).view(len(pi), -1)
        return tensors

    def expected(self, blueprint: Blueprint) -> Tensors:
        classes, j, d = blueprint.class_count, self.components, self.map.size(blueprint)
        spread = {"diagonal": d, "spherical": 1}[self.covariance]
        counts = torch.empty(classes, dtype=torch.int64, device="meta")
        shapes = [(classes, j), (classes, j, d), (classes, j, spread)]
        others = [torch.empty(shape, dtype=torch.float32, device="meta") for shape in shapes]
        return dict(zip(self._names(), [counts, *others], strict=True))

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        """Shares sum to 1 where there are images and to 0 elsewhere; no variance is negative."""
        (counts_name, counts), (weights_name, weights), _, (variances_name, variances) = tensors.items()
        problems = miscounted(counts_name, counts, facts)
        of_one = (weights.sum(1) - (counts > 0).float()).abs() < ROUNDING
        if not (weights >= 0).all() or not of_one.all():
            problems.append(f"tensor {weights_name!r} does not hold shares of the classes with images")
        if not (variances >= 0).all():
            problems.append(f"tensor {variances_name!r} holds a negative variance")
        return problems

    def gather(self, uploads: Sequence[Upload]) -> StackedMixtures:
        """Side by side, in the order given."""
        return StackedMixtures(
            *(torch.stack([upload.tensors[name] for upload in uploads]).double() for name in self._names())
        )

    def _fit(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """pi (j,), mu (j, d), v (j, d) or (j,)"""
        j = max(1, min(self.components, len(x) // IMAGES_EACH))
        if j == 1:
            v = x.var(0, keepdims=True) + self.floor
            return np.ones(1), x.mean(0, keepdims=True), v if self.covariance == "diagonal" else v.mean(1)
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture

        # Starting points without Lloyd's iterations: those add up in the order in which threads happen to finish.
        mixture = GaussianMixture(
            j, covariance_type=SKLEARN[self.covariance], reg_covar=self.floor, init_params="k-means++", random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # stopped early, it is a mixture all the same
            mixture.fit(x)
        return mixture.weights_, mixture.means_, mixture.covariances_

    def _names(self) -> tuple[str, str, str, str]:
        own = wire_name(self)
        return f"{own}.counts", f"{own}.weights", f"{own}.means", f"{own}.variances"
