"""Which features `mooring` looks at: decided by the images and by what is installed, or by `encoder=...`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from mooring.data import Source
from mooring.errors import ConfigError
from mooring.fusion import LinearHeadFusion, TrainedAndSums
from mooring.methods import Method
from mooring.models import (
    DATA_FREE_MAP,
    EFFICIENTNET_LITES,
    FIXED_SIZE_MAPS,
    LARGE_SHAPE,
    ByImages,
    EncoderFeatures,
    EncoderViews,
    FeatureMap,
    PublicEncoder,
    WhitenedFilters,
    is_resnet,
    missing_package,
    suits_encoder,
)
from mooring.schema import Tree, to_tree

NONE = "none"  # the word for features that nobody's data is behind
OVER_SUMS = (LinearHeadFusion, TrainedAndSums)
GIVEN = "it was asked for"


@dataclass(frozen=True)
class FeatureChoice:
    """A method with its feature map decided, and why it is this one."""

    method: Method
    why: str


def choose_features(method: Method, source: Source) -> FeatureChoice | None:
    """The choice for these images on this machine; None where there is nothing to choose, or not before they are read.

    What is decided stands in the experiment, and so in its fingerprint: no machine makes another choice of it later.
    """
    by_images = choice_of(method)
    if by_images is None:
        return None
    shape, missing, encoder = source.image_shape(), missing_package(by_images.encoder), by_images.encoder
    of = "of" if shape else "brought to"
    if shape is None and missing is None and isinstance(encoder, FIXED_SIZE_MAPS):
        # images that are given any size are given what the encoder takes
        shape = source.for_size(lambda: encoder.side(LARGE_SHAPE)).image_shape()
    if shape is not None and not suits_encoder(shape):
        return feature_choice(
            method, fitting(by_images.otherwise, source), f"images of {sides(shape)} are small and grey"
        )
    if missing is not None:
        remedy = "pip install 'mooring[encoder]' for features of a trained encoder"
        return feature_choice(method, fitting(by_images.otherwise, source), f"{missing} is not installed; {remedy}")
    if shape is None:
        return None
    seen = "in colour" if shape[0] >= 3 else "large"
    return feature_choice(method, fitting(by_images.encoder, source), f"images {of} {sides(shape)} are {seen}")


def usual(method: Method, source: Source) -> Method:
    """The method for these images, whatever is installed: the base of the changes in a label."""
    by_images, shape = choice_of(method), source.image_shape()
    if by_images is None or shape is None:
        return with_views(method, source)
    return feature_choice(method, fitting(by_images.chosen(shape), source), "").method


def fitting(features: FeatureMap, source: Source) -> FeatureMap:
    """A map of the house looks at the mirror image too, where that is still an image of its class."""
    views: EncoderViews = "mirrored" if source.mirror else "one"
    if isinstance(features, EncoderFeatures) and source.mirror:
        return replace(features, views=views)
    if isinstance(features, WhitenedFilters):
        return replace(features, views=features.views or views)
    if isinstance(features, PublicEncoder):
        beside = None if features.beside is None else fitting(features.beside, source)
        return replace(features, views=features.views or views, beside=beside)
    return features


def left_open(features: FeatureMap) -> FeatureMap:
    """A map with its views to be decided by the images."""
    if isinstance(features, PublicEncoder):
        beside = None if features.beside is None else left_open(features.beside)
        return replace(features, views=None, beside=beside)
    return replace(features, views=None) if isinstance(features, WhitenedFilters) else features


def with_views(method: Method, source: Source) -> Method:
    """The method with its views decided, where its map leaves them open."""
    fusion = method.fusion
    if not (isinstance(fusion, OVER_SUMS) and isinstance(fusion.map, WhitenedFilters | PublicEncoder)):
        return method
    return feature_choice(method, fitting(fusion.map, source), "").method


def as_labelled(method: Method, source: Source) -> Method:
    """The method for a label: views that were chosen by the images are not a change."""
    fusion = method.fusion
    if not isinstance(fusion, OVER_SUMS) or fitting(left_open(fusion.map), source) != fusion.map:
        return method
    return feature_choice(method, left_open(fusion.map), "").method


def choice_of(method: Method) -> ByImages | None:
    """The choice that a method leaves open."""
    fusion = method.fusion
    return fusion.map if isinstance(fusion, LinearHeadFusion) and isinstance(fusion.map, ByImages) else None


def same_features(method: Method, other: Method) -> bool:
    """Do both look at features of one kind, perhaps with other settings?"""
    maps = [fusion.map for fusion in (method.fusion, other.fusion) if isinstance(fusion, LinearHeadFusion)]
    return len(maps) == 2 and type(maps[0]) is type(maps[1])


def feature_choice(method: Method, features: FeatureMap, why: str) -> FeatureChoice:
    assert isinstance(method.fusion, OVER_SUMS)
    return FeatureChoice(replace(method, fusion=replace(method.fusion, map=features)), why)


def sides(shape: tuple[int, int, int]) -> str:
    return f"{shape[1]} x {shape[2]} pixels"


def map_tree(value: Any) -> Any:
    """What `encoder=VALUE` says of the feature map: `none`, a name of the house or a file; a mapping is one already."""
    if value is None or value == NONE:
        return to_tree(DATA_FREE_MAP)
    if not isinstance(value, str):
        return value
    if value in EFFICIENTNET_LITES:
        return {"kind": "encoder", "weights": value}
    kinds = {".onnx": lambda _: "onnx-file", ".safetensors": safetensors_kind}
    kind = kinds.get(Path(value).suffix.lower())
    if kind is None:
        raise ConfigError(
            [f"encoder={value}: unknown; valid: {NONE}, {', '.join(EFFICIENTNET_LITES)}, FILE.onnx, FILE.safetensors"]
        )
    tree: Tree = {"kind": kind(value), "path": value}
    return tree


def safetensors_kind(path: str) -> str:
    """A ResNet of torchvision or timm by the names of its tensors; everything else is of the model of this house."""
    try:
        with safe_open(path, framework="pt") as file:
            return "resnet-file" if is_resnet(set(file.keys())) else "encoder-file"
    except (OSError, SafetensorError):
        return "encoder-file"  # which says what is wrong with it
