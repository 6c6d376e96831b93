"""Moments under noise: what leaves the site says nearly the same whether any single image was there or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import sha256
from math import floor, log, log2, sqrt
from secrets import token_bytes
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mooring.errors import FusionError
from mooring.models import Blueprint, FeatureMap, Network, feature_reduction, placed_with, reduce_features
from mooring.schema import Checked
from mooring.types import Upload
from mooring.uploads._moments import (
    SummedMoments,
    indices,
    pack_triangle,
    triangle_size,
    unpack_triangle,
)
from mooring.uploads._part import Accumulator, AddsUp, Part, Parts, StreamedPart, Tensors, UploadFacts, added, wire_name
from mooring.uploads._privacy import Privacy, normals

FINE = 2**10  # steps of the sent values in one standard deviation: the last bits of floats reveal nothing
FALSE_ALARM = 1e-9  # probability with which `check` reports an honest upload, over all of its bounds together
THERE = 2.0  # standard deviations of its count, below which a class may as well have no image


@dataclass(frozen=True)
class NoisedMoments(Checked, StreamedPart, AddsUp):
    """n_c, sum_c u and sum u u' for u = reduced(phi(image)), each with Gaussian noise, and how many noises are in it.

    Off-diagonal entries of the triangle stand for two entries of the matrix, and get noise of half the variance: so the
    noise is the same in every direction, and one image changes what is sent by a length of 1.

    `key` is the site's secret. Noise is drawn from it and from the exact numbers: the same images give the same bytes
    again, other images fresh noise. It is in no tree and in no name; without one, noise is drawn anew every time.
    """

    kind: ClassVar[str] = "noised-moments"
    trained: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        "noised-moments.counts": "about how many images of each class the site has, under noise",
        "noised-moments.sums": "for each class, the sum of reduced features of its images, under noise",
        "noised-moments.second": "the sum of products of reduced features over all images, under noise",
        "noised-moments.draws": "how many noises are in these sums: one",
    }
    map: FeatureMap
    privacy: Privacy
    key: bytes | None = field(default=None, repr=False, compare=False)

    def accumulator(self, network: Network) -> "ReducedFeatures":
        reduction = feature_reduction(self.map, network.blueprint, self.privacy.size)
        phi = placed_with(self.map.build(network.blueprint), network)
        return ReducedFeatures(self, network.blueprint.class_count, phi, *reduction)

    def of_features(self, u: Tensor, y: Tensor) -> Tensors:
        """The sums that are sent of reduced features u (n, size) with one-hot labels y (n, C)."""
        sums = self._noised(y.sum(0), y.T @ u, pack_triangle(u.T @ u))
        return dict(zip(self._names(), [*sums, torch.ones(1, dtype=torch.int64)], strict=True))

    def expected(self, blueprint: Blueprint) -> Tensors:
        classes, d = blueprint.class_count, self.privacy.size
        shapes = [(classes,), (classes, d), (triangle_size(d),)]
        sums = [torch.empty(shape, dtype=torch.float64, device="meta") for shape in shapes]
        return dict(zip(self._names(), [*sums, torch.empty(1, dtype=torch.int64, device="meta")], strict=True))

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        """Bounds from the length of u, which is 1, and from the noise, which is Gaussian:

        0 <= n_c,  |sum_c u| <= n_c,  0 <= sum u u' <= n,  tr(sum u u') <= n

        Each holds up to a quantile of the noise. An honest upload violates one of them with a probability of at most
        FALSE_ALARM (union bound); the norm of Gaussian noise in d dimensions exceeds sqrt(d) + t deviations, and the
        largest eigenvalue of symmetric noise sqrt(2 d) + t, with a probability of at most exp(-t^2 / 2).
        """
        (counts_name, counts), (sums_name, sums), (second_name, second), (draws_name, draws) = tensors.items()
        if draws.item() < 1:
            return [f"tensor {draws_name!r} says that there is no noise"]
        d, classes = self.privacy.size, len(counts)
        tail = FALSE_ALARM / (3 * classes + 4)
        z, t = quantile(tail), sqrt(2 * log(1 / tail))
        of_counts, of_sums, of_second = (deviation * sqrt(draws.item()) for deviation in self.privacy.noise)
        most, matrix = counts.sum() + z * sqrt(classes) * of_counts, unpack_triangle(second, d)
        values = torch.linalg.eigvalsh(matrix)  # ascending
        edge = of_second * (sqrt(2 * d) + t)
        too_many = matrix.trace() > most + z * sqrt(d) * of_second or values[-1] > most + edge
        broken = {
            f"tensor {counts_name!r} holds a negative number of images": (counts < -z * of_counts).any(),
            f"tensor {sums_name!r} is longer than its counts and its noise allow": (
                sums.norm(dim=1) > (counts + z * of_counts).clamp(min=0) + of_sums * (sqrt(d) + t)
            ).any(),
            f"tensor {second_name!r} is larger than its counts and its noise allow": too_many,
            f"tensor {second_name!r} holds a negative variance": values[0] < -edge,
        }
        return [problem for problem, found in broken.items() if found]

    def count_slack(self, tensors: Tensors) -> float:
        """By how much noise can raise the number of images, except with a probability of FALSE_ALARM."""
        return quantile(FALSE_ALARM) * sqrt(len(tensors[self._names()[0]])) * self.privacy.noise[0]

    def draws(self, tensors: Tensors) -> int:
        """How many noises an upload says are in it."""
        return int(tensors[self._names()[-1]].item())

    def add(self, a: Tensors, b: Tensors) -> Tensors:
        return added(a, b)

    def total(self, uploads: Sequence[Upload]) -> SummedMoments:
        """The sum over clients, made possible again: nothing below looks at an image, so nothing more is revealed.

        A class whose count is below THERE deviations is treated as absent. Scatter within classes has no eigenvalue
        below sqrt(d/2) deviations, the size of the eigenvalues of noise alone.
        """
        names = self._names()
        own: list[Tensors] = [{name: upload.tensors[name].double() for name in names} for upload in uploads]
        counts, sums, second, draws = reduce(self.add, own).values()
        of_counts, _, of_second = (deviation * sqrt(draws.item()) for deviation in self.privacy.noise)
        there = counts > THERE * of_counts
        if not there.any():
            raise FusionError(
                f"with epsilon={self.privacy.epsilon:g} no class can be seen through the noise",
                "plan with a larger epsilon, or with more images",
            )
        counts, sums = torch.where(there, counts, 0), torch.where(there[:, None], sums, 0)
        between = (sums / counts.clamp(min=1)[:, None]).T @ sums
        values, vectors = torch.linalg.eigh(unpack_triangle(second, self.privacy.size) - between)
        values = values.clamp(min=sqrt(self.privacy.size / 2) * of_second)
        return SummedMoments(counts, sums, vectors * values @ vectors.T + between)

    def samples(self, tensors: Tensors) -> int:
        """About how many images there are, as far as the noise lets it be known."""
        return max(1, round(tensors[self._names()[0]].sum().item()))

    def _noised(self, *exact: Tensor) -> list[Tensor]:
        key = token_bytes(32) if self.key is None else self.key
        content = sha256(b"".join(tensor.numpy().tobytes() for tensor in exact)).hexdigest()
        rows, columns = indices(self.privacy.size)
        one = torch.ones(())
        weights = (one, one, torch.where(rows == columns, 1.0, sqrt(0.5)))
        noised = []
        for name, tensor, s, weight in zip(self._names(), exact, self.privacy.noise, weights, strict=False):
            noise = s * weight * normals(key, (name, content), tuple(tensor.shape))
            step = 2.0 ** floor(log2(s / FINE))
            noised.append(((tensor + noise) / step).round() * step)
        return noised

    def _names(self) -> tuple[str, str, str, str]:
        own = wire_name(self)
        return f"{own}.counts", f"{own}.sums", f"{own}.second", f"{own}.draws"


@dataclass
class ReducedFeatures(Accumulator):
    """Reduced features of all images so far: noise is added once, to the sums over all of them."""

    part: NoisedMoments
    classes: int
    phi: nn.Module
    centre: Tensor
    projection: Tensor

    def __post_init__(self) -> None:
        self.reduced = [torch.zeros(0, self.part.privacy.size, dtype=torch.float64)]
        self.labels = [torch.zeros(0, dtype=torch.int64)]

    def features(self, images: Tensor) -> Tensor:
        return reduce_features(self.phi(images), self.centre, self.projection)

    def add(self, features: Tensor, labels: Tensor) -> None:
        self.reduced.append(features)
        self.labels.append(labels)

    def state(self) -> Tensors:
        return {"features": torch.cat(self.reduced), "labels": torch.cat(self.labels)}

    def restore(self, state: Tensors) -> None:
        self.reduced, self.labels = [state["features"]], [state["labels"]]

    def tensors(self) -> Tensors:
        u, labels = self.state().values()
        return self.part.of_features(u, F.one_hot(labels, self.classes).double())


def quantile(tail: float) -> float:
    """z with P(Z > z) = tail for a standard normal Z."""
    from scipy.special import ndtri  # here: every start would pay for it

    return float(-ndtri(tail))


def with_noise_key(parts: Parts, key: bytes) -> Parts:
    """The same parts, noise drawn from this secret."""
    return frozenset(keyed(part, key) for part in parts)


def keyed(part: Part, key: bytes) -> Part:
    return replace(part, key=key) if isinstance(part, NoisedMoments) else part
