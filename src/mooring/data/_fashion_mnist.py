"""Fashion-MNIST in its official IDX files, gzipped or not."""

import gzip
import io
import math
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ClassVar, cast

import numpy as np
import torch
from numpy.typing import NDArray

from mooring.data._images import ImageSet, Overview, Source
from mooring.data._locate import Download, find
from mooring.errors import DataError

CLASSES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
SIDE = 28
FOLDERS = ("fashion-mnist", ".", "/usr/share/datasets/fashion-mnist")  # the last is where Debian's package puts them
GET = "run `mooring data fetch fashion_mnist`, or install Debian's package (apt-get install dataset-fashion-mnist)"
LARGEST = 2**26  # bytes of an array; the largest official one has 47 million
BYTES = 8  # IDX type code of unsigned bytes


@dataclass(frozen=True)
class FashionMnist(Source):
    """70,000 grey 28x28 garments in 10 classes (Xiao et al., 2017); a mirrored garment is still that garment."""

    mean: ClassVar[tuple[float, ...]] = (0.2860,)
    std: ClassVar[tuple[float, ...]] = (0.3530,)

    source: ClassVar[str] = "fashion_mnist"
    official_test: ClassVar[int | None] = 10_000
    download: ClassVar[Download | None] = Download.of_files(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
        "fashion-mnist",
        {
            "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
            "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
            "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
        },
    )

    def image_shape(self) -> tuple[int, int, int]:
        return 1, SIDE, SIDE

    def train(self) -> ImageSet:
        return _read(*_files(self.root)[:2])

    def test(self) -> ImageSet:
        return _read(*_files(self.root)[2:])

    def overview(self) -> Overview:
        files = _files(self.root)
        return Overview(_count(files[0]), _count(files[2]), len(CLASSES), (1, SIDE, SIDE), files)


def _files(root: str | None) -> tuple[Path, ...]:
    names = [f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
    return find(root, names, FOLDERS, GET, suffixes=(".gz", ""))


def _read(images_path: Path, labels_path: Path) -> ImageSet:
    images = _read_idx(images_path, dimensions=3)  # (N, H, W)
    labels = _read_idx(labels_path, dimensions=1)  # (N,)
    if images.shape[1:] != (SIDE, SIDE):
        raise DataError(f"{images_path} holds images of {images.shape[1:]}, not ({SIDE}, {SIDE})", GET)
    if len(images) != len(labels):
        raise DataError(f"{images_path} has {len(images)} images but {labels_path} has {len(labels)} labels", GET)
    if len(labels) == 0 or labels.max() >= len(CLASSES):
        found = f"label {labels.max()}" if len(labels) else "no labels"
        raise DataError(f"{labels_path} holds {found}; labels are 0 to {len(CLASSES) - 1}", GET)
    return ImageSet(torch.from_numpy(images).unsqueeze(1), torch.from_numpy(labels.astype(np.int64)), CLASSES)


def _read_idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    with _opened(path) as file:
        shape = _shape(file, path, dimensions)
        size = math.prod(shape)
        if size > LARGEST:
            raise DataError(f"{path} says it holds {shape}, {size} bytes; at most {LARGEST} are read", GET)
        values = bytearray(size)  # torch needs a writable buffer
        found = cast(io.BufferedIOBase, file).readinto(values)
        more = file.read(1)  # at the end of a zipped file its checksum is compared
    if found != size or more:
        raise DataError(f"{path} holds {'more than ' * bool(more)}{found} bytes where its header says {shape}", GET)
    return np.frombuffer(values, np.uint8).reshape(shape)


def _count(path: Path) -> int:
    """The number of images in the header of the file."""
    with _opened(path) as file:
        return _shape(file, path, dimensions=3)[0]


def _shape(file: BinaryIO, path: Path, dimensions: int) -> tuple[int, ...]:
    """An IDX header: two zeros, the type of the values, the number of dimensions, then one size for each."""
    magic, sizes = file.read(4), file.read(4 * dimensions)
    if magic != bytes((0, 0, BYTES, dimensions)) or len(sizes) != 4 * dimensions:
        raise DataError(f"{path} is not an IDX file of {dimensions} dimensions: it begins {magic!r}", GET)
    return struct.unpack(f">{dimensions}I", sizes)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file, decompressed if its content is gzip: browsers may unzip a download and keep its name."""
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            yield cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if zipped else raw
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read whole: {error}", GET) from error
