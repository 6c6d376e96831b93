"""Feature maps: functions from images to features that all clients share and that clients do not train."""

from mooring.models._feature_maps.encoder import (
    DATA_FREE_MAP,
    ByImages,
    EncoderFeatures,
    map_for_shape,
    missing_package,
    suits_encoder,
)
from mooring.models._feature_maps.file_maps import EncoderFile, OnnxFile, ResNetFile
from mooring.models._feature_maps.public_encoder import PublicEncoder
from mooring.models._feature_maps.untrained import Pixels, RandomEncoder, RandomFilters
from mooring.models._feature_maps.whitened_filters import WhitenedFilters
from mooring.models._network import FeatureMap

FEATURE_MAPS: dict[str, type[FeatureMap]] = {
    "by-images": ByImages,
    "encoder": EncoderFeatures,
    "encoder-file": EncoderFile,
    "onnx-file": OnnxFile,
    "pixels": Pixels,
    "public-encoder": PublicEncoder,
    "random-encoder": RandomEncoder,
    "random-filters": RandomFilters,
    "resnet-file": ResNetFile,
    "whitened-filters": WhitenedFilters,
}
PRETRAINED = (ByImages, EncoderFeatures, EncoderFile, OnnxFile, ResNetFile)  # trained on other data
FILE_MAPS = (EncoderFile, OnnxFile, ResNetFile)  # users' files, perhaps under a licence
FIXED_SIZE_MAPS = (EncoderFeatures, OnnxFile, ResNetFile)  # they take images of one size
LARGE_SHAPE = (3, 1024, 1024)  # an image that can be resized to any of their sizes

__all__ = [
    "DATA_FREE_MAP",
    "FEATURE_MAPS",
    "LARGE",
    "OWN_FILES",
    "PRETRAINED",
    "SIZED",
    "ByImages",
    "EncoderFeatures",
    "EncoderFile",
    "FeatureMap",
    "OnnxFile",
    "Pixels",
    "PublicEncoder",
    "RandomEncoder",
    "RandomFilters",
    "ResNetFile",
    "WhitenedFilters",
    "map_for_shape",
    "missing_package",
    "suits_encoder",
]
