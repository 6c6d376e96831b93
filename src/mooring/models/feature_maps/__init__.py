"""Maps from images to features that all clients share and nobody trains: one small file per map."""

from mooring.models.feature_maps.base import FeatureMap
from mooring.models.feature_maps.encoder_file import EncoderFile
from mooring.models.feature_maps.random_filters import RandomFilters
from mooring.models.feature_maps.untrained import Pixels, RandomEncoder

FEATURE_MAPS: dict[str, type[FeatureMap]] = {
    "encoder-file": EncoderFile,
    "pixels": Pixels,
    "random-encoder": RandomEncoder,
    "random-filters": RandomFilters,
}

__all__ = ["FEATURE_MAPS", "EncoderFile", "FeatureMap", "Pixels", "RandomEncoder", "RandomFilters"]
