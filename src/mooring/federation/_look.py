"""What a model sees in images: scores, and how far they are from the training images, in one pass where it can be."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from mooring.data import batches
from mooring.federation._model_file import ModelFile
from mooring.fusion import FrozenFeatures

AT_ONCE = 64  # images scored together


DOUBT = 0.125  # exponent of the probability in `unusualness`: none, this or its double, on held-out training images


@dataclass(frozen=True)
class ImageScores:
    """What a model says of images."""

    scores: Tensor  # (N, C)
    distances: Tensor | None = None  # (N, C seen); None: the model cannot tell

    def rows(self) -> Iterator[tuple[Tensor, Tensor | None]]:
        """Image by image."""
        for at, scores in enumerate(self.scores):
            yield scores, None if self.distances is None else self.distances[at]


def look(model: ModelFile, images: Tensor) -> ImageScores:
    """(N, C, H, W), uint8"""
    with torch.inference_mode():
        parts = [seen(model, batch) for batch in batches(images, AT_ONCE)]
    distances = [part.distances for part in parts if part.distances is not None]
    return ImageScores(torch.cat([part.scores for part in parts]), torch.cat(distances) if distances else None)


def seen(model: ModelFile, images: Tensor) -> ImageScores:
    predictor, frozen = model.predictor, features_of(model)
    if model.typical is None or frozen is None:
        return ImageScores(predictor(images))
    features = frozen.phi(images).double()
    scores = frozen.from_features(features) if frozen is predictor else predictor(images)
    return ImageScores(scores, model.typical.by_class(frozen.as_summed(features)))


def features_of(model: ModelFile) -> FrozenFeatures | None:
    """The part of the predictor whose features the sums were of."""
    return next((part for part in model.predictor.modules() if isinstance(part, FrozenFeatures)), None)


def unusualness(scores: Tensor, distances: Tensor) -> float:
    """min_c D_c / max_c p_c^DOUBT of one image, p the soft-max of its scores: far from all classes, or between them.

    The distance alone misses images with the statistics of the training images but of no class (studies/unusual.py).
    """
    return float(distances.amin() / scores.double().softmax(0).amax() ** DOUBT)
