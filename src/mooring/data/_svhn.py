"""Street View House Numbers, cropped digits, in the official MATLAB files."""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import ClassVar, NamedTuple

import numpy as np
import torch

from mooring.data._images import ImageSet, Overview, Source
from mooring.data._limits import regular
from mooring.data._locate import Download, find
from mooring.errors import DataError

CLASSES = tuple("0123456789")
SHAPE = (32, 32, 3)
FILES = ("train_32x32.mat", "test_32x32.mat")
VARIABLES = ("X", "y")
LARGEST = 2**29  # bytes of an array; the larger part of SVHN has 225 million
DENSEST = 1032  # bytes that one byte of a compressed stream can stand for, at most
TAG = Struct("<II")  # type and length of an element
START, HEAD = 128, 512  # bytes at the start of a file, and of an array that hold all but its data
MATRIX, COMPRESSED = 14, 15  # types of elements
BYTES = 9  # the class of uint8
KINDS = dict(
    enumerate(["double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"], start=6)
)
STORED = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}  # bytes of a value, by its type on disk
GET = "run `mooring data fetch svhn` for the official train_32x32.mat and test_32x32.mat (cropped digits)"


@dataclass(frozen=True)
class Svhn(Source):
    """32x32 colour digits cut from house numbers (Netzer et al., 2011); a mirrored digit is a different sign."""

    mean: ClassVar[tuple[float, ...]] = (0.4377, 0.4438, 0.4728)
    std: ClassVar[tuple[float, ...]] = (0.1980, 0.2010, 0.1970)
    mirror: ClassVar[bool] = False

    source: ClassVar[str] = "svhn"
    official_test: ClassVar[int | None] = 26_032
    download: ClassVar[Download | None] = Download.of_files(
        "http://ufldl.stanford.edu/housenumbers",
        "svhn",
        {
            "train_32x32.mat": "e26dedcc434d2e4c54c9b2d4a06d8373",
            "test_32x32.mat": "eb5a983be6a315427106f1b164d9cef3",
        },
    )

    def image_shape(self) -> tuple[int, int, int]:
        return 3, 32, 32

    def train(self) -> ImageSet:
        return _read_mat_images(_files(self.root)[0])

    def test(self) -> ImageSet:
        return _read_mat_images(_files(self.root)[1])

    def overview(self) -> Overview:
        files = _files(self.root)
        train, test = map(_declared_images, files)
        return Overview(train, test, len(CLASSES), (3, 32, 32), files)


def _files(root: str | None) -> tuple[Path, ...]:
    return find(root, FILES, ("svhn", "."), GET)


def _read_mat_images(path: Path) -> ImageSet:
    _declared_images(path)
    try:
        from scipy.io import loadmat  # slow to import, and other data does not need it

        variables = loadmat(str(path), variable_names=list(VARIABLES), appendmat=False)
        images, labels = (np.asarray(variables[name]) for name in VARIABLES)
    except Exception as error:  # damaged files raise almost anything
        raise _unreadable(path, error) from error
    count = images.shape[3]
    if labels.size != count or count == 0:
        raise DataError(f"{path} has {count} images in X and {labels.size} labels in y", GET)
    if labels.dtype.kind not in "iu" or labels.min() < 1 or labels.max() > 10:
        raise DataError(f"{path}: y must hold integers from 1 to 10; 10 stands for the digit 0", GET)
    pixels = np.ascontiguousarray(images.transpose(3, 2, 0, 1))  # (N, 3, 32, 32)
    return ImageSet(torch.from_numpy(pixels), torch.from_numpy(labels.reshape(-1).astype(np.int64) % 10), CLASSES)


def _declared_images(path: Path) -> int:
    """The number of images that the headers declare. What scipy would crash on or fill the memory with is rejected."""
    try:
        size = regular(path).st_size
        headers = [header for header in _headers(path, size) if header.name in VARIABLES]
    except Exception as error:  # damaged files raise almost anything
        raise _unreadable(path, error) from error
    if sorted(header.name for header in headers) != list(VARIABLES):
        raise _unreadable(path, ValueError("it must hold X and y, each once"))
    images, labels = sorted(headers, key=lambda header: header.name)
    if (images.kind, images.shape[:3], len(images.shape)) != (BYTES, SHAPE, 4):
        found = KINDS.get(images.kind, "no array of numbers")
        raise DataError(f"{path}: X is {found} {images.shape}, not uint8 (32, 32, 3, N)", GET)
    for header in (images, labels):
        if header.kind not in KINDS or header.stored not in STORED:
            raise _unreadable(path, ValueError(f"{header.name} is not an array of real numbers"))
        needed = math.prod(header.shape) * STORED[header.stored]
        if min(header.shape) < 0 or header.nbytes != needed or needed > min(LARGEST, DENSEST * size):
            message = f"{header.name} is declared as {header.shape} in {header.nbytes} of {size} bytes"
            raise _unreadable(path, ValueError(message))
    return images.shape[3]


class _Header(NamedTuple):
    """All of a variable but its data."""

    name: str
    shape: tuple[int, ...]
    kind: int  # MATLAB's class, with its flags
    stored: int  # the type of the values on disk
    nbytes: int  # of the values on disk


def _headers(path: Path, size: int) -> Iterator[_Header]:
    """The variables of a file (MathWorks, "MAT-File Format", Level 5), without their data."""
    with path.open("rb") as file:
        if file.read(START)[-2:] != b"IM":
            raise ValueError("no MATLAB 5 file")
        while (place := file.tell()) < size:
            element = file.read(HEAD)
            kind, length = TAG.unpack_from(element)
            if length > size - place - TAG.size:
                raise ValueError(f"an element of {length} bytes; {size - place - TAG.size} are left")
            if kind == COMPRESSED:
                element = zlib.decompressobj().decompress(element[TAG.size :], HEAD)
            if TAG.unpack_from(element)[0] != MATRIX:
                raise ValueError("an element that is not an array")
            yield _header(element)
            file.seek(place + TAG.size + length)


def _header(element: bytes) -> _Header:
    """Tag and flags have 24 bytes; the shape, the name and the tag of the data follow."""
    flags, place, found = TAG.unpack_from(element, 16)[0] & 0xFFFF, 24, []
    for _ in range(2):
        _, begin, length, place = _part(element, place)
        found.append(element[begin : begin + length])
    shape, name = np.frombuffer(found[0], "<i4"), found[1].decode("ascii")
    stored, _, nbytes, _ = _part(element, place)
    return _Header(name, tuple(shape.tolist()), flags, stored, nbytes)


def _part(element: bytes, place: int) -> tuple[int, int, int, int]:
    """Type, place and length of a part, and where the next begins; up to four bytes stand inside the tag."""
    kind, length = TAG.unpack_from(element, place)
    if kind >> 16:
        return kind & 0xFFFF, place + 4, min(kind >> 16, 4), place + TAG.size
    return kind, place + TAG.size, length, place + TAG.size + length + -length % 8


def _unreadable(path: Path, error: Exception) -> DataError:
    return DataError(f"{path} is not an SVHN file: {type(error).__name__}: {error}"[:500], GET)
