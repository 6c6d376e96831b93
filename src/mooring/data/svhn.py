"""Street View House Numbers, cropped digits, in the official MATLAB files."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from mooring.data.images import ImageSet, Overview, Source
from mooring.data.locate import find
from mooring.data.mat_file import read_mat, shapes
from mooring.errors import DataError

CLASSES = tuple("0123456789")
SHAPE = (32, 32, 3)
FILES = ("train_32x32.mat", "test_32x32.mat")
GET = "run `mooring data fetch svhn` for the official train_32x32.mat and test_32x32.mat (cropped digits)"


@dataclass(frozen=True)
class Svhn(Source):
    """32x32 colour digits cut from house numbers (Netzer et al., 2011); a mirrored digit is another sign."""

    mean: ClassVar[tuple[float, ...]] = (0.4377, 0.4438, 0.4728)
    std: ClassVar[tuple[float, ...]] = (0.1980, 0.2010, 0.1970)
    mirror: ClassVar[bool] = False

    source: ClassVar[str] = "svhn"

    def image_shape(self) -> tuple[int, int, int]:
        return 3, 32, 32

    def train(self) -> ImageSet:
        return _read_mat_images(_files(self.root)[0])

    def test(self) -> ImageSet:
        return _read_mat_images(_files(self.root)[1])

    def overview(self) -> Overview:
        files = _files(self.root)
        train, test = map(_count, files)
        return Overview(train, test, len(CLASSES), (3, 32, 32), files)


def _files(root: str | None) -> tuple[Path, ...]:
    return find(root, FILES, ("svhn", "."), GET)


def _read_mat_images(path: Path) -> ImageSet:
    try:
        variables = read_mat(path, ("X", "y"))
        images, labels = variables["X"], variables["y"].reshape(-1)
    except Exception as error:  # rubbish can look like almost anything
        raise _unreadable(path, error) from error
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[:3] != SHAPE:
        raise DataError(f"{path}: X is {images.dtype} {images.shape}, not uint8 (32, 32, 3, N)", GET)
    count = images.shape[3]
    if len(labels) != count or count == 0:
        raise DataError(f"{path} has {count} images in X and {len(labels)} labels in y", GET)
    if labels.dtype.kind not in "iu" or labels.min() < 1 or labels.max() > 10:
        raise DataError(f"{path}: y must hold whole numbers from 1 to 10, where 10 means the digit 0", GET)
    pixels = np.ascontiguousarray(images.transpose(3, 2, 0, 1))  # (N, 3, 32, 32)
    return ImageSet(torch.from_numpy(pixels), torch.from_numpy(labels.astype(np.int64) % 10), CLASSES)


def _count(path: Path) -> int:
    """The number of images as the file's header has it."""
    try:
        return shapes(path)["X"][3]
    except Exception as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> DataError:
    return DataError(f"{path} is not an SVHN file: {type(error).__name__}: {error}"[:500], GET)
