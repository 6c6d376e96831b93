"""Predictors on frozen features."""

from dataclasses import replace
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from mooring.errors import FusionError, ModelError
from mooring.fusion._predictor import Confidence, Predictor, Saved, Scorer
from mooring.models import FILE_MAPS, Blueprint, EncoderReference, FeatureMap, map_for_shape, reduce_features
from mooring.schema import Tree, by_file_hash, to_tree

MARGIN = 100.0  # how far below all others a class scores that nobody has seen


class FrozenFeatures(Predictor):
    """score(x) = head(phi(x)) for the classes that somebody has seen; the others score MARGIN below the lowest."""

    kind: ClassVar[str] = "frozen-features"
    holds: ClassVar[tuple[str, ...]] = ("seen",)
    sides: ClassVar[tuple[int, ...]] = (1,)
    dtype: ClassVar[torch.dtype | None] = torch.bool
    seen: Tensor  # (C,), bool

    def __init__(
        self,
        blueprint: Blueprint,
        map: FeatureMap,  # noqa: A002
        phi: nn.Module,
        head: Scorer,
        seen: Tensor,
        confidence: Confidence = "score",
    ) -> None:
        super().__init__(blueprint)
        self.confidence = confidence
        self.map = map
        self.phi = phi
        self.head = head
        self.hold(seen=seen)
        self.eval()

    def forward(self, images: Tensor) -> Tensor:
        return self.from_features(self.phi(images).double())

    def as_summed(self, features: Tensor) -> Tensor:
        """Features as the sums hold them: under `privacy` they were reduced."""
        return self.head.reduced(features) if isinstance(self.head, Reduced) else features

    def from_features(self, features: Tensor) -> Tensor:
        """The scores of images whose features are known, (B, d) float64 -> (B, C)"""
        known: Tensor = self.head(features).float()  # (B, classes seen)
        place = (self.seen.long().cumsum(0) - 1).clamp(min=0)  # of each class among those seen
        return torch.where(self.seen, known[:, place], known.amin(1, keepdim=True) - MARGIN)

    def tree(self) -> Tree:
        confidence = (
            {"confidence": self.confidence} if self.confidence == "probability" else {}
        )  # older files say nothing
        return super().tree() | {"map": to_tree(self.map, by_file_hash), "head": self.head.tree()} | confidence

    @classmethod
    def restored(cls, saved: Saved) -> Self:
        feature_map = saved.value("map", FeatureMap)
        own = map_for_shape(feature_map, saved.blueprint.shape)
        named = isinstance(own, FILE_MAPS) and not saved.below("phi")
        phi = (
            from_file(own, saved.encoder, saved.blueprint)
            if named
            else saved.filled("phi", lambda: feature_map.empty(saved.blueprint))
        )
        confidence: Confidence = saved.value("confidence", Confidence, "score")
        return cls(saved.blueprint, feature_map, phi, saved.scorer("head"), **saved.held(cls), confidence=confidence)


def from_file(features: FeatureMap, encoder: str | None, blueprint: Blueprint) -> nn.Module:
    """phi from the file that a saved predictor names by its SHA-256, if it is the very one."""
    assert isinstance(features, FILE_MAPS), "asked of maps in files alone"
    reference = EncoderReference.parse(features.path)
    if not reference.valid:
        raise ModelError(f"its encoder is named by {reference.digest[:60]!a}, not by a SHA-256", "save it again")
    if encoder is None:
        raise ModelError(
            f"its encoder is a file, sha256:{reference.digest[:16]}..., and not in the model", "name it: --encoder FILE"
        )
    if not reference.is_content_of(encoder):
        raise ModelError(
            f"{encoder}: is not the encoder of this model",
            f"name the file with the SHA-256 {reference.digest}: --encoder FILE",
        )
    return replace(features, path=encoder).build(blueprint)


class Affine(Scorer):
    """x W + b"""

    kind: ClassVar[str] = "affine"
    holds: ClassVar[tuple[str, ...]] = ("weight", "bias")
    sides: ClassVar[tuple[int, ...]] = (2, 1)
    weight: Tensor  # (d, C), float64
    bias: Tensor  # (C,)

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.hold(weight=weight, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


class Reduced(Scorer):
    """head(u), u = z / |z|, z = (x - m) P"""

    kind: ClassVar[str] = "reduced"
    holds: ClassVar[tuple[str, ...]] = ("centre", "projection")
    sides: ClassVar[tuple[int, ...]] = (1, 2)
    centre: Tensor  # m, (d,), float64
    projection: Tensor  # P, (d, size)

    def __init__(self, centre: Tensor, projection: Tensor, head: Scorer) -> None:
        super().__init__()
        self.hold(centre=centre, projection=projection)
        self.head = head

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.head(self.reduced(x))
        return scores

    def reduced(self, x: Tensor) -> Tensor:
        """u"""
        return reduce_features(x, self.centre, self.projection)

    def tree(self) -> Tree:
        return super().tree() | {"head": self.head.tree()}

    @classmethod
    def restored(cls, saved: Saved) -> Self:
        return cls(**saved.held(cls), head=saved.scorer("head"))


def cholesky(matrix: Tensor) -> Tensor:
    """L L' = A, (..., d, d); moments of real features always have one."""
    factor: Tensor
    factor, failed = torch.linalg.cholesky_ex(matrix)
    if failed.any():
        raise FusionError(
            "these second-moment matrices are not positive semidefinite; no data set produces them",
            "leave out one client at a time to find the one that causes it",
        )
    return factor
