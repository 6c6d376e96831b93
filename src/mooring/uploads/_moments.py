"""Sufficient statistics of frozen features: the sum of all clients' statistics is what a single client with
all images would send. Symmetric matrices are sent as their upper triangle, row by row: half the bytes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from math import isqrt
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mooring.models import Blueprint, FeatureMap, Network, placed_with
from mooring.schema import Checked
from mooring.types import Upload
from mooring.uploads._classes import IMAGES_BY_CLASS, miscounted
from mooring.uploads._part import Accumulator, AddsUp, StreamedPart, Tensors, UploadFacts, added, wire_name

SecondMomentKind = Literal["shared", "per-class", "diagonal"]
Precision = Literal["float64", "float32"]
DTYPES: dict[Precision, torch.dtype] = {"float64": torch.float64, "float32": torch.float32}
SECOND_MOMENTS = "moments.second"
ROUNDING = 1e-6  # relative


def pack_triangle(matrix: Tensor) -> Tensor:
    """(..., d, d), symmetric -> (..., d (d+1)/2)"""
    rows, columns = indices(matrix.shape[-1])
    return matrix[..., rows, columns]


def unpack_triangle(packed: Tensor, d: int) -> Tensor:
    """(..., d (d+1)/2) -> (..., d, d)"""
    rows, columns = indices(d)
    matrix = packed.new_zeros(*packed.shape[:-1], d, d)
    matrix[..., rows, columns] = packed
    matrix[..., columns, rows] = packed
    return matrix


def diagonal(packed: Tensor, d: int) -> Tensor:
    """(..., d (d+1)/2) -> (..., d)"""
    rows, columns = indices(d)
    return packed[..., rows == columns]


def triangle_size(d: int) -> int:
    return d * (d + 1) // 2


def side(packed: Tensor) -> int:
    """d, of (..., d (d+1)/2)"""
    return (isqrt(8 * packed.shape[-1] + 1) - 1) // 2


@lru_cache(maxsize=2)  # a client packs one matrix for every batch
def indices(d: int) -> tuple[Tensor, Tensor]:
    rows, columns = torch.triu_indices(d, d)
    return rows, columns


@dataclass(frozen=True)
class SummedMoments:
    """The moments of several clients together, unpacked."""

    counts: Tensor  # (C,), float64 as the rest
    sums: Tensor  # (C, d)
    second: Tensor  # shared (d, d), per-class (C, d, d), diagonal (C, d)

    @property
    def means(self) -> Tensor:
        """m_c, (C, d), zero where there are no images."""
        return self.sums / self.counts.clamp(min=1)[:, None]


@dataclass(frozen=True)
class Moments(Checked, StreamedPart, AddsUp):
    """n_c, sum_c x and second moments of x = phi(image), summed in float64 here and over clients.

    `precision` is the type in the upload: with float32 an upload has half the bytes, and every number 7 digits.
    shared: sum x x', (d (d+1)/2,)    per-class: sum_c x x', (C, d (d+1)/2)    diagonal: sum_c x^2, (C, d)
    """

    kind: ClassVar[str] = "moments"
    trained: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {
        "moments.counts": IMAGES_BY_CLASS,
        "moments.sums": "for each class, the sum of the features of its images: one vector per class, no image",
        SECOND_MOMENTS: "the sum of products of features over all images: how features vary together",
    }
    map: FeatureMap
    second: SecondMomentKind
    precision: Precision = "float64"

    def accumulator(self, network: Network) -> "MomentSums":
        shapes = replace(self, precision="float64").expected(network.blueprint).values()
        zeros = [torch.zeros(shape.shape, dtype=shape.dtype) for shape in shapes]  # zeros_like would import sympy
        return MomentSums(self, placed_with(self.map.build(network.blueprint), network), *zeros)

    def expected(self, blueprint: Blueprint) -> Tensors:
        classes, d = blueprint.class_count, self.map.size(blueprint)
        second = {"shared": (triangle_size(d),), "per-class": (classes, triangle_size(d)), "diagonal": (classes, d)}
        real = DTYPES[self.precision]
        kinds = [((classes,), torch.int64), ((classes, d), real), (second[self.second], real)]
        empty = [torch.empty(shape, dtype=dtype, device="meta") for shape, dtype in kinds]
        return dict(zip(self._names(), empty, strict=True))

    def flops(self, blueprint: Blueprint) -> int:
        """Of adding one image to the sums, once its features are known: two for each product y_c x_i and x_i x_j."""
        classes, d = blueprint.class_count, self.map.size(blueprint)
        return 2 * d * (classes + {"shared": d, "per-class": d, "diagonal": classes}[self.second])

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        """Classes without images have no sums, and no variance is negative: n sum x^2 >= (sum x)^2."""
        (counts_name, counts), (sums_name, sums), (second_name, second) = tensors.items()
        sums, second = sums.double(), second.double()
        problems = miscounted(counts_name, counts, facts)
        if not (sums[counts == 0] == 0).all():
            problems.append(f"tensor {sums_name!r} has sums for a class without images")
        squares = second if self.second == "diagonal" else diagonal(second, sums.shape[1])
        n, s = (counts.sum(), sums.sum(0)) if self.second == "shared" else (counts[:, None], sums)
        if not ((squares >= 0) & (n * squares >= s.square() * (1 - ROUNDING))).all():
            problems.append(f"tensor {second_name!r} holds a negative variance")
        return problems

    def add(self, a: Tensors, b: Tensors) -> Tensors:
        return added(a, b)

    def total(self, uploads: Sequence[Upload]) -> SummedMoments:
        """The sum over clients, in the order given."""
        names = self._names()
        own: Iterator[Tensors] = ({name: upload.tensors[name].double() for name in names} for upload in uploads)
        counts, sums, second = reduce(self.add, own).values()  # one at a time: memory does not grow with the clients
        return SummedMoments(
            counts, sums, second if self.second == "diagonal" else unpack_triangle(second, sums.shape[1])
        )

    def _names(self) -> tuple[str, str, str]:
        own = wire_name(self)
        return f"{own}.counts", f"{own}.sums", f"{own}.second"


@dataclass
class MomentSums(Accumulator):
    """The moments of all batches so far, in float64."""

    part: Moments
    phi: nn.Module
    counts: Tensor
    sums: Tensor
    second: Tensor

    def features(self, images: Tensor) -> Tensor:
        x: Tensor = self.phi(images)
        return x.double()  # (B, d)

    def add(self, features: Tensor, labels: Tensor) -> None:
        x = features
        y = F.one_hot(labels, len(self.counts)).double()  # (B, C)
        self.counts += y.sum(0).long()
        self.sums += y.T @ x
        self.second += SECOND[self.part.second](x, y)

    def state(self) -> Tensors:
        return {"counts": self.counts, "sums": self.sums, "second": self.second}

    def restore(self, state: Tensors) -> None:
        for name, own in self.state().items():
            own.copy_(state[name])

    def tensors(self) -> Tensors:
        real = DTYPES[self.part.precision]
        sent = self.counts, self.sums.to(real), self.second.to(real)
        return dict(zip(self.part._names(), sent, strict=True))


def per_class(x: Tensor, y: Tensor) -> Tensor:
    return torch.stack([pack_triangle(x[own].T @ x[own]) for own in y.T.bool()])


SECOND: dict[SecondMomentKind, Callable[[Tensor, Tensor], Tensor]] = {
    "shared": lambda x, _: pack_triangle(x.T @ x),
    "per-class": per_class,
    "diagonal": lambda x, y: y.T @ x.square(),
}
