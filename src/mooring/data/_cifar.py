"""CIFAR-10 and CIFAR-100 in their official Python pickles."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from mooring.data._cifar_pickle import count_rows, read_pickle
from mooring.data._images import ImageSet, Overview, Source
from mooring.data._locate import Download, find
from mooring.errors import DataError

SHAPE = (3, 32, 32)
WIDTH = 3 * 32 * 32  # of a row of pixels
REMEDY = "unpack the official archive again"
NAMES_10 = "airplane automobile bird cat deer dog frog horse ship truck"
NAMES_100 = """
    apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle
    caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant
    flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree
    motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain plate
    poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper snail snake spider
    squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor train trout tulip turtle
    wardrobe whale willow_tree wolf woman worm
"""
TORONTO = "https://www.cs.toronto.edu/~kriz"


@dataclass(frozen=True)
class Cifar(Source):
    """Colour images, 32x32 (Krizhevsky, 2009)."""

    official_test: ClassVar[int | None] = 10_000
    classes: ClassVar[tuple[str, ...]]
    label_key: ClassVar[str]
    folder: ClassVar[str]  # of the official archive
    files: ClassVar[tuple[str, ...]]  # the test part last
    get: ClassVar[str]

    def image_shape(self) -> tuple[int, int, int]:
        return SHAPE

    def train(self) -> ImageSet:
        return _read_images(self._files()[:-1], self.label_key, self.classes)

    def test(self) -> ImageSet:
        return _read_images(self._files()[-1:], self.label_key, self.classes)

    def overview(self) -> Overview:
        *train, test = (count_rows(path, WIDTH, REMEDY) for path in self._files())
        return Overview(sum(train), test, len(self.classes), SHAPE, self._files())

    def _files(self) -> tuple[Path, ...]:
        return find(self.root, self.files, (self.folder, "."), self.get)


@dataclass(frozen=True)
class Cifar10(Cifar):
    """Colour images of 10 things, 32x32 (Krizhevsky, 2009)."""

    source: ClassVar[str] = "cifar10"
    mean: ClassVar[tuple[float, ...]] = (0.4914, 0.4822, 0.4465)
    std: ClassVar[tuple[float, ...]] = (0.2470, 0.2435, 0.2616)
    classes: ClassVar[tuple[str, ...]] = tuple(NAMES_10.split())
    label_key: ClassVar[str] = "labels"
    folder: ClassVar[str] = "cifar-10-batches-py"
    files: ClassVar[tuple[str, ...]] = (*(f"data_batch_{batch}" for batch in range(1, 6)), "test_batch")
    get: ClassVar[str] = "run `mooring data fetch cifar10`, unpack the official cifar-10-python.tar.gz"
    download: ClassVar[Download | None] = Download.of_archive(
        f"{TORONTO}/cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a", folder, files
    )


@dataclass(frozen=True)
class Cifar100(Cifar):
    """Colour images of 100 things, 32x32, by their fine labels (Krizhevsky, 2009)."""

    source: ClassVar[str] = "cifar100"
    mean: ClassVar[tuple[float, ...]] = (0.5071, 0.4865, 0.4409)
    std: ClassVar[tuple[float, ...]] = (0.2673, 0.2564, 0.2762)
    classes: ClassVar[tuple[str, ...]] = tuple(NAMES_100.split())
    label_key: ClassVar[str] = "fine_labels"
    folder: ClassVar[str] = "cifar-100-python"
    files: ClassVar[tuple[str, ...]] = ("train", "test")
    get: ClassVar[str] = "run `mooring data fetch cifar100`, unpack the official cifar-100-python.tar.gz"
    download: ClassVar[Download | None] = Download.of_archive(
        f"{TORONTO}/cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85", folder, files
    )


def _read_images(paths: Sequence[Path], label_key: str, classes: tuple[str, ...]) -> ImageSet:
    batches = [_read_batch(path, label_key, len(classes)) for path in paths]
    images = np.concatenate([images for images, _ in batches]).reshape(-1, *SHAPE)
    labels = np.concatenate([labels for _, labels in batches])
    return ImageSet(torch.from_numpy(images), torch.from_numpy(labels), classes)


def _read_batch(path: Path, label_key: str, classes: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    batch = read_pickle(path, REMEDY)
    for key in ("data", label_key):
        if key not in batch:
            raise DataError(f"{path} has no {key!r}", REMEDY)
    images, labels = batch["data"], batch[label_key]
    if not isinstance(images, np.ndarray) or images.dtype != np.uint8 or images.shape[1:] != (WIDTH,):
        found = f"{images.dtype} {images.shape}" if isinstance(images, np.ndarray) else type(images).__name__
        raise DataError(f"{path}: 'data' is {found}, not uint8 (N, {WIDTH})", REMEDY)
    if isinstance(labels, np.ndarray) and labels.shape == images.shape[:1]:
        labels = labels.tolist()
    if not isinstance(labels, list) or len(labels) != len(images) or not labels:
        found = f"{len(labels)} labels" if isinstance(labels, list) else type(labels).__name__
        raise DataError(f"{path}: {label_key!r} is {found} for {len(images)} images", REMEDY)
    for label in labels:
        if type(label) is not int or not 0 <= label < classes:
            shown = label if type(label) is int and abs(label) < 2**63 else type(label).__name__
            raise DataError(f"{path}: {label_key!r} holds {shown}; labels are 0 to {classes - 1}", REMEDY)
    return images, np.array(labels, np.int64)
