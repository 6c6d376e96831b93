"""IDX files, gzipped or not: the format of MNIST and its relatives."""

import gzip
import io
import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import torch
from numpy.typing import NDArray

from mooring.data._images import ImageSet
from mooring.errors import DataError

SIDE = 28
LARGEST = 2**30  # bytes of an array; the largest official one, EMNIST by class, has 547 million
BYTES = 8  # IDX type code of unsigned bytes


def read_pair(files: Sequence[Path], classes: tuple[str, ...], get: str, first: int = 0) -> ImageSet:
    """Images of 28 x 28 and their labels; `first` is the label of the first class, `get` says how to get the files."""
    images_path, labels_path = files
    images = read_idx(images_path, 3, get)  # (N, H, W)
    labels = read_idx(labels_path, 1, get)  # (N,)
    if images.shape[1:] != (SIDE, SIDE):
        raise DataError(f"{images_path} holds images of {images.shape[1:]}, not ({SIDE}, {SIDE})", get)
    if len(images) != len(labels):
        raise DataError(f"{images_path} has {len(images)} images but {labels_path} has {len(labels)} labels", get)
    if len(labels) == 0 or labels.min() < first or labels.max() >= first + len(classes):
        found = f"label {labels.max()}" if len(labels) else "no labels"
        raise DataError(f"{labels_path} holds {found}; labels are {first} to {first + len(classes) - 1}", get)
    return ImageSet(torch.from_numpy(images).unsqueeze(1), torch.from_numpy(labels.astype(np.int64) - first), classes)


def read_idx(path: Path, dimensions: int, get: str) -> NDArray[np.uint8]:
    with opened(path, get) as file:
        shape = header(file, path, dimensions, get)
        size = math.prod(shape)
        if size > LARGEST:
            raise DataError(f"{path} says it holds {shape}, {size} bytes; at most {LARGEST} are read", get)
        values = bytearray(size)  # torch needs a writable buffer
        found = cast(io.BufferedIOBase, file).readinto(values)
        more = file.read(1)  # at the end of a zipped file its checksum is compared
    if found != size or more:
        raise DataError(f"{path} holds {'more than ' * bool(more)}{found} bytes where its header says {shape}", get)
    return np.frombuffer(values, np.uint8).reshape(shape)


def count_images(path: Path, get: str) -> int:
    """The number of images in the header of the file."""
    with opened(path, get) as file:
        return header(file, path, 3, get)[0]


def header(file: BinaryIO, path: Path, dimensions: int, get: str) -> tuple[int, ...]:
    """An IDX header: two zeros, the type of the values, the number of dimensions, then one size for each."""
    magic, sizes = file.read(4), file.read(4 * dimensions)
    if magic != bytes((0, 0, BYTES, dimensions)) or len(sizes) != 4 * dimensions:
        raise DataError(f"{path} is not an IDX file of {dimensions} dimensions: it begins {magic!r}", get)
    return struct.unpack(f">{dimensions}I", sizes)


@contextmanager
def opened(path: Path, get: str) -> Iterator[BinaryIO]:
    """The file, decompressed if its content is gzip: browsers may unzip a download and keep its name."""
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            yield cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if zipped else raw
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read whole: {error}", get) from error
