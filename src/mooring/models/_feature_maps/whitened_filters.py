"""A feature map that uses no training data: whitened patches of procedural images as convolution filters."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from annotated_types import Ge, Gt, Le
from torch import Tensor, nn

from mooring.models._encoders.session import VIEWS_OF_IMAGE, EncoderViews, UsualFeatureViews
from mooring.models._feature_maps.synthetic import dead_leaves
from mooring.models._feature_maps.untrained import FLAT_VARIANCE
from mooring.models._network import Blueprint, Normalise, frozen
from mooring.schema import Checked, Count, Doc, NonNegative, Positive, Seed
from mooring.seeds import generator

LARGEST = 32  # pixels a side of a procedural image
PROCEDURAL = 300  # such images
PATCHES = 50_000  # of them that are whitened by
SIGNS = 2  # a filter and its negative
PER_VALUE = 8  # channels at most for each value of a patch, and twice as many filters: small patches are soon described
CONSTANT = 1e-6  # spread of a response that is none


@dataclass(frozen=True)
class WhitenedFilters(Checked):
    """phi(x) = B' sqrt(r),  r = averages over grid x grid regions of relu(u - t) and relu(-u - t),  u_f = w_f . W p

    for every patch p of x, centred and divided by its contrast. W = (S + whitening s I)^-1/2 whitens, with S the
    covariance of patches of dead leaves and s its mean eigenvalue; w_f are such patches, whitened, of unit norm, and u
    is in units of its spread on them: the pipeline of Coates and Ng (2011) without training data. There are more
    filters than numbers: B, one for all regions, are the principal axes of sqrt(r) over dead leaves.

    `side` is at most half of the image's smaller side. d = channels x grid^2. `views` mirrored: r is the mean of the
    image's and of its mirror image's; None: as the images of an experiment allow, one otherwise.
    """

    kind: ClassVar[str] = "whitened-filters"
    channels: Annotated[int, Gt(0), Le(2**12), Doc("features per region")] = 544
    filters: Annotated[
        int,
        Gt(0),
        Le(2**14),
        Doc("number of patches of procedural images"),
    ] = 1024
    side: Annotated[Count, Doc("side of a patch; at most half of the image's")] = 6
    threshold: Annotated[NonNegative, Doc("threshold of a response, in standard deviations")] = 0.5
    whitening: Annotated[Positive, Doc("added to the eigenvalues, in units of their mean")] = 1.0
    grid: Annotated[int, Ge(1), Le(8), Doc("averages over grid x grid regions")] = 2
    views: UsualFeatureViews = None
    seed: Annotated[Seed, Doc("seed of the map, not of the experiment")] = 0

    def size(self, blueprint: Blueprint) -> int:
        return self._channels(blueprint) * self.grid**2

    def build(self, blueprint: Blueprint) -> nn.Module:
        return self._module(weights_of(replace(self, views=None), blueprint), blueprint)

    def empty(self, blueprint: Blueprint) -> nn.Module:
        count = self.count(blueprint)
        sizes = (count, self._values(blueprint)), (count,), (SIGNS * count,), (SIGNS * count, self._channels(blueprint))
        return self._module(Weights(*(torch.zeros(size) for size in sizes)), blueprint)

    def count(self, blueprint: Blueprint) -> int:
        """The number of filters, limited by the size of a patch."""
        return min(self.filters, SIGNS * PER_VALUE * self._values(blueprint))

    def patch_side(self, blueprint: Blueprint) -> int:
        return min(self.side, max(1, min(blueprint.shape[1:]) // 2))

    def responses(self, filters: Tensor, offset: Tensor, blueprint: Blueprint) -> "Responses":
        return Responses(filters, offset, self.patch_side(blueprint), self.threshold, self.grid, self.views or "one")

    def _module(self, weights: "Weights", blueprint: Blueprint) -> nn.Module:
        responses = self.responses(weights.filters, weights.offset, blueprint)
        return frozen(Normalise(blueprint), Projected(responses, weights.centre, weights.basis))

    def _values(self, blueprint: Blueprint) -> int:
        return blueprint.shape[0] * self.patch_side(blueprint) ** 2

    def _channels(self, blueprint: Blueprint) -> int:
        return min(self.channels, PER_VALUE * self._values(blueprint), SIGNS * self.count(blueprint))


class Weights(NamedTuple):
    """All that is computed from procedural images."""

    filters: Tensor  # (F, C * side^2), whitening and its spread within
    offset: Tensor  # (F,)
    centre: Tensor  # (2 F,)
    basis: Tensor  # (2 F, channels), in units of each response's own spread


class Responses(nn.Module):
    """sqrt(r): (B, C, H, W) -> (B, grid^2, 2 F)"""

    filters: Tensor
    offset: Tensor

    def __init__(
        self, filters: Tensor, offset: Tensor, side: int, threshold: float, grid: int, views: EncoderViews
    ) -> None:
        super().__init__()
        self.register_buffer("filters", filters)
        self.register_buffer("offset", offset)
        self.side = side
        self.threshold = threshold
        self.grid = grid
        self.views = views

    def forward(self, images: Tensor) -> Tensor:
        rows, columns = (length - self.side + 1 for length in images.shape[2:])
        pool = torch.einsum("ay,bx->abyx", averaging_matrix(rows, self.grid), averaging_matrix(columns, self.grid))
        pool = pool.flatten(2).flatten(0, 1).to(self.filters)  # (grid^2, positions)
        views = [
            torch.stack([self._pooled(image, pool) for image in view]) for view in VIEWS_OF_IMAGE[self.views](images)
        ]
        return torch.stack(views).mean(0).sqrt()

    def _pooled(self, image: Tensor, pool: Tensor) -> Tensor:
        """One image at a time: its responses stay in the cache, and its bytes do not depend on its neighbours."""
        u = torch.addmm(self.offset, patches_of(image[None], self.side)[0], self.filters.T)  # (positions, F)
        below = (-u - self.threshold).clamp_(min=0)
        return torch.cat([pool @ u.sub_(self.threshold).clamp_(min=0), pool @ below], 1)


class Projected(nn.Module):
    """(sqrt(r) - centre) B: (B, C, H, W) -> (B, channels * grid^2)"""

    centre: Tensor
    basis: Tensor

    def __init__(self, responses: Responses, centre: Tensor, basis: Tensor) -> None:
        super().__init__()
        self.responses = responses
        self.register_buffer("centre", centre)
        self.register_buffer("basis", basis)

    def forward(self, images: Tensor) -> Tensor:
        projected: Tensor = (self.responses(images) - self.centre) @ self.basis
        return projected.flatten(1)


@lru_cache(maxsize=2)
def weights_of(features: WhitenedFilters, blueprint: Blueprint) -> Weights:
    """The same for all clients. In float64, because machines that round differently must agree on the axes."""
    rng = generator(features.seed, "feature-map")
    channels, *sides = blueprint.shape
    leaves = Normalise(blueprint)(dead_leaves(PROCEDURAL, channels, min(LARGEST, *sides), rng)).double()
    patches = patches_of(leaves, features.patch_side(blueprint)).flatten(0, 1)
    patches = patches[torch.randperm(len(patches), generator=rng)[:PATCHES]]
    mean = patches.mean(0)
    values, axes = torch.linalg.eigh((patches - mean).T @ (patches - mean) / len(patches))
    whiten = axes * (values.clamp(min=0) + features.whitening * values.mean()).rsqrt() @ axes.T
    count = features.count(blueprint)
    filters = F.normalize((patches[torch.arange(count) % len(patches)] - mean) @ whiten) @ whiten
    filters = filters / ((patches - mean) @ filters.T).std()
    responses = features.responses(filters, -filters @ mean, blueprint)
    r = responses(leaves).flatten(0, 1)  # (images x regions, 2 F)
    centre, spread = r.mean(0), r.std(0).clamp(min=CONSTANT)
    basis = principal((r - centre) / spread, features.size(blueprint) // features.grid**2) / spread[:, None]
    return Weights(*(tensor.float() for tensor in (filters, -filters @ mean, centre, basis)))


def patches_of(images: Tensor, side: int) -> Tensor:
    """(B, C, H, W) -> (B, positions, C * side^2): every patch, centred, of variance 1 unless it is flat."""
    patches = F.unfold(images, side).transpose(1, 2)
    patches = patches - patches.mean(2, keepdim=True)
    return patches / (patches.square().mean(2, keepdim=True) + FLAT_VARIANCE).sqrt()


def averaging_matrix(length: int, grid: int) -> Tensor:
    """(grid, length): averages over as many stretches, which overlap where they do not divide it."""
    averages = torch.zeros(grid, length)
    for i in range(grid):
        first, end = i * length // grid, -(-(i + 1) * length // grid)
        averages[i, first:end] = 1 / (end - first)
    return averages


def principal(x: Tensor, count: int) -> Tensor:
    """(n, f) -> (f, count): the axes of largest variance, of unit norm, each with its largest entry above 0.

    If there are fewer images than axes, the missing axes are zero.
    """
    tall = len(x) >= x.shape[1]
    _, vectors = torch.linalg.eigh(x.T @ x if tall else x @ x.T)
    vectors = vectors.flip(1)[:, :count]
    axes = vectors if tall else F.normalize(x.T @ vectors, dim=0)
    largest = axes.gather(0, axes.abs().argmax(0, keepdim=True))
    return F.pad(axes * largest.sign(), (0, count - axes.shape[1]))
