"""Scikit-learn's handwritten digits: real data that is always at hand, so demos and tests need no download."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from mooring.data.images import ImageSet, Overview, Source

CLASSES = tuple("0123456789")
TRAIN, TEST = 1437, 360
SPLIT_SEED = 0  # part of the data set's definition: there is no official split, and every experiment must share one


@dataclass(frozen=True)
class Digits(Source):
    """1,797 grey 8x8 digits in a fixed stratified split, 1,437 for training and 360 for testing.

    A mirrored digit is another sign, hence no mirroring. `mean` and `std` are those of the training part.
    """

    mean: ClassVar[tuple[float, ...]] = (0.3054,)
    std: ClassVar[tuple[float, ...]] = (0.3760,)
    mirror: ClassVar[bool] = False

    source: ClassVar[str] = "digits"

    def image_shape(self) -> tuple[int, int, int]:
        return 1, 8, 8

    def train(self) -> ImageSet:
        return _part(0)

    def test(self) -> ImageSet:
        return _part(1)

    def overview(self) -> Overview:
        return Overview(TRAIN, TEST, len(CLASSES), (1, 8, 8))


def _part(which: int) -> ImageSet:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    bunch = load_digits()
    every = np.arange(len(bunch.target))
    parts = train_test_split(every, test_size=TEST, stratify=bunch.target, random_state=SPLIT_SEED)
    chosen = np.sort(parts[which])
    images = np.rint(bunch.images[chosen] * 255 / 16).astype(np.uint8)  # (N, 8, 8), ink from 0 to 16
    labels = bunch.target[chosen].astype(np.int64)
    return ImageSet(torch.from_numpy(images).unsqueeze(1), torch.from_numpy(labels), CLASSES)
