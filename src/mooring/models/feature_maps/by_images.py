"""The map that fits the images: an encoder where there are colours or pixels enough for it, else no data at all."""

from dataclasses import dataclass, field
from typing import ClassVar

from torch import nn

from mooring.bounds import Checked
from mooring.models.encoders.preparation import SMALL
from mooring.models.feature_maps.base import FeatureMap
from mooring.models.feature_maps.encoder import EncoderFeatures
from mooring.models.feature_maps.whitened_filters import WhitenedFilters
from mooring.models.network import Blueprint

Shape = tuple[int, int, int]
DATA_FREE: FeatureMap = WhitenedFilters()  # the best map that needs nobody's data


@dataclass(frozen=True)
class ByImages(Checked):
    """`encoder` for images in colour or above 40 pixels a side, `otherwise` for small grey ones."""

    kind: ClassVar[str] = "by-images"
    encoder: FeatureMap = field(default_factory=EncoderFeatures)
    otherwise: FeatureMap = DATA_FREE

    def chosen(self, shape: Shape) -> FeatureMap:
        return self.encoder if suits_encoder(shape) else self.otherwise

    def size(self, blueprint: Blueprint) -> int:
        return self.chosen(blueprint.shape).size(blueprint)

    def build(self, blueprint: Blueprint) -> nn.Module:
        return self.chosen(blueprint.shape).build(blueprint)

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self.chosen(blueprint.shape).empty(blueprint)


def missing_package(features: FeatureMap) -> str | None:
    """A package that an encoder of the house needs and that is not installed."""
    return features.missing() if isinstance(features, EncoderFeatures) else None


def settled_map(features: FeatureMap, shape: Shape) -> FeatureMap:
    """The map itself, once the images are known."""
    return features.chosen(shape) if isinstance(features, ByImages) else features


def suits_encoder(shape: Shape) -> bool:
    """Are these images of the kind that encoders of photographs were trained on?"""
    channels, height, width = shape
    return channels >= 3 or max(height, width) > SMALL
