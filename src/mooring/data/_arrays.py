"""A user's own arrays in one .npz file, checked before anything trains on them."""

import math
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from numpy.lib import format as npy
from numpy.typing import NDArray

from mooring.data._images import ImageSet, Source
from mooring.data._limits import MAX_BYTES, guard, out_of_memory, regular, reject_excess
from mooring.data._locate import own_path
from mooring.data._pixels import to_images
from mooring.errors import DataError
from mooring.schema import Count, Doc

AnyArray = NDArray[Any]
REQUIRED = ("train_images", "train_labels", "test_images", "test_labels")
MOST_CLASSES = 2**16
SITES = "train_sites"
OPTIONAL = (SITES, "classes")
WANTED = f"an .npz file with {', '.join(REQUIRED)} (and, if you like, {', '.join(OPTIONAL)})"
HARMLESS, DENSEST = 2**24, 100  # a file that unpacks to more than 16 MiB may grow to 100 times its size
END = 22 + 2**16  # bytes, at most, of the record that ends a zip
KINDS = frozenset("biufSU")  # numbers and texts; numpy unpickles whatever has objects inside
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


@dataclass(frozen=True)
class Arrays(Source):
    """Images that are already arrays: (N, H, W), (N, H, W, C) or (N, C, H, W), uint8 or floats from 0 to 1.

    Both parts are checked whenever one is read, so a mistake in the test part is found before training.
    """

    source: ClassVar[str] = "arrays"
    wanted: ClassVar[str | None] = WANTED
    max_bytes: Annotated[Count, Doc("largest size of all arrays, unpacked")] = guard(MAX_BYTES)

    def has_sites(self) -> bool:
        try:
            with _archive(own_path(self.root, WANTED)) as archive:
                return f"{SITES}.npy" in archive.namelist()
        except Exception:  # problems of the file are reported when it is read
            return False

    def train(self) -> ImageSet:
        return self._read()[0]

    def test(self) -> ImageSet:
        return self._read()[1]

    def _read(self) -> tuple[ImageSet, ImageSet]:
        path = own_path(self.root, WANTED)
        arrays = _load(path, self.max_bytes)
        try:
            return _parts(arrays)
        except DataError as error:
            raise DataError(f"{path}: {error.problem}", error.remedy) from None
        except MemoryError as error:
            raise out_of_memory(f"{path}: its arrays") from error


def _parts(arrays: Mapping[str, AnyArray]) -> tuple[ImageSet, ImageSet]:
    train_images, test_images = (to_images(name, arrays[name]) for name in ("train_images", "test_images"))
    if train_images.shape[1:] != test_images.shape[1:]:
        raise DataError(
            f"test_images are {test_images.shape[1:]} (C, H, W) but train_images are {train_images.shape[1:]}",
            "bring both to one shape",
        )
    train_labels, test_labels = (
        _labels(f"{part}_labels", arrays[f"{part}_labels"], len(images))
        for part, images in (("train", train_images), ("test", test_images))
    )
    classes = _classes(arrays.get("classes"), train_labels)
    for name, labels in (("train_labels", train_labels), ("test_labels", test_labels)):
        if labels.max() >= len(classes):
            raise DataError(f"{name} holds {labels.max()} but there are {len(classes)} classes", "add it or relabel")
    sites = _sites(arrays.get(SITES), len(train_images))
    return (
        ImageSet(torch.from_numpy(train_images), torch.from_numpy(train_labels), classes, sites),
        ImageSet(torch.from_numpy(test_images), torch.from_numpy(test_labels), classes),
    )


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The opened file. A zip's directory has no checksum, so its length is compared with the count behind it."""
    regular(path)
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            archive.open(info).close()  # compares the name in the directory with the one before the data
        file.seek(-min(END, file.seek(0, os.SEEK_END)), os.SEEK_END)
        end = file.read(END)
        count = int.from_bytes(end[end.rfind(b"PK\x05\x06") + 10 :][:2], "little")
        if count != len(archive.infolist()):
            raise ValueError(f"its directory lists {len(archive.infolist())} files and counts {count}")
        yield archive


def _declared_bytes(archive: zipfile.ZipFile, name: str) -> int:
    """Bytes of an array in memory, as its .npy header declares them; they must be those that the zip declares."""
    info = archive.getinfo(f"{name}.npy")
    if archive.namelist().count(info.filename) > 1:
        raise ValueError(f"{name} is there twice")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is compressed by method {info.compress_type}, which np.savez does not use")
    with archive.open(info) as file:
        try:
            shape, _, dtype = HEADERS[npy.read_magic(file)](file)
        except Exception as error:  # numpy parses the header as Python, which fails in many ways
            raise ValueError(f"{name} has no valid .npy header") from error
        start = file.tell()
    if dtype.kind not in KINDS or dtype.shape:
        raise ValueError(f"{name} is {dtype}, neither numbers nor text")
    declared = math.prod(shape) * dtype.itemsize
    if declared != info.file_size - start:
        raise ValueError(f"{name} is declared as {dtype} {shape} but has {info.file_size - start} bytes")
    return declared


def _read_npz(path: Path, max_bytes: int) -> dict[str, AnyArray]:
    """The arrays that are there, if the declared sizes of all together stay within the limit."""
    size = regular(path).st_size
    with _archive(path) as archive:
        names = [name for name in (*REQUIRED, *OPTIONAL) if f"{name}.npy" in archive.namelist()]
        total = sum(_declared_bytes(archive, name) for name in names)
    reject_excess(f"{path}", total, max_bytes)
    if total > max(HARMLESS, DENSEST * size):
        raise DataError(
            f"{path} has {size} bytes and would unpack to {total}, more than {DENSEST} times as many",
            "if that is intended, save it with np.savez, which does not compress",
        )
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in names}


def _load(path: Path, max_bytes: int) -> Mapping[str, AnyArray]:
    try:
        arrays = _read_npz(path, max_bytes)
    except DataError:
        raise
    except MemoryError as error:
        raise out_of_memory(f"{path}: its arrays") from error
    except Exception as error:  # not a zip, truncated, arrays of objects, a lone .npy ...
        raise DataError(
            f"{path} cannot be read: {error}"[:500], f"set data.root to {WANTED}, none of dtype object"
        ) from error
    missing = [name for name in REQUIRED if name not in arrays]
    if missing:
        raise DataError(f"{path} has no {', '.join(missing)}", f"save {WANTED}")
    return arrays


def _labels(name: str, labels: AnyArray, count: int) -> NDArray[np.int64]:
    if labels.dtype.kind not in "iu":
        raise DataError(f"{name} is {labels.dtype}, not whole numbers", f"save {name}.astype(np.int64)")
    labels = labels[:, 0] if labels.shape == (count, 1) else labels  # as the files of MedMNIST have them
    if labels.shape != (count,):
        raise DataError(f"{name} has shape {labels.shape} for {count} images", f"give one label per image: ({count},)")
    if labels.min() < 0 or labels.max() >= 2**31:
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise DataError(f"{name} holds {wrong}", "number the classes 0, 1, 2, ...")
    return labels.astype(np.int64)


def _classes(names: AnyArray | None, train_labels: NDArray[np.int64]) -> tuple[str, ...]:
    if names is None:
        present = np.unique(train_labels)
        gap = next((number for number, label in enumerate(present.tolist()) if number != label), None)
        if gap is not None:
            raise DataError(f"train_labels holds {present.max()} but never {gap}", "number from 0, or add `classes`")
        return tuple(str(label) for label in present.tolist())
    if names.size > MOST_CLASSES:
        raise DataError(f"classes names {names.size} classes", f"name at most {MOST_CLASSES}")
    classes = _texts("classes", names)
    if len(set(classes)) != len(classes):
        raise DataError("classes names a class twice", "give every class a name of its own")
    return classes


def _sites(names: AnyArray | None, count: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    if names.shape != (count,):
        raise DataError(
            f"train_sites has shape {names.shape} for {count} images", f"name one site per image: ({count},)"
        )
    return _texts("train_sites", names)


def _texts(name: str, values: AnyArray) -> tuple[str, ...]:
    if values.ndim != 1 or values.dtype.kind not in "USiu":
        raise DataError(f"{name} is {values.dtype} {values.shape}, not a list of names", "save np.array([...]) of text")
    return tuple(
        value.decode(errors="replace") if isinstance(value, bytes) else str(value) for value in values.tolist()
    )
