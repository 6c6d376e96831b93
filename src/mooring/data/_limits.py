"""Limits on memory and file size, checked before anything is read or decoded."""

import os
import stat
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooring.data._image_bytes import ImageBytes, PictureFile
from mooring.errors import DataError
from mooring.schema import LIMIT_ONLY

MAX_BYTES = 8_000_000_000
IN_MEMORY = 2**27  # bytes of pixels; images above it are decoded whenever they are needed
MAX_PIXELS = 100_000_000
WIDEST, HEADERS = 8, 2**20  # bytes of a pixel that is not compressed, and of all that is not pixels
LONGEST_SIDE = 65_535


def guard(most: int) -> Any:
    """A field that can stop an experiment and never changes its result."""
    return field(default=most, metadata={LIMIT_ONLY: True})


def regular(path: Path) -> os.stat_result:
    """The status of a file. Pipes and devices are rejected, because reading them may never end."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path} is not a regular file")
    return found


def reject_long_file(path: PictureFile, max_pixels: int) -> None:
    nbytes = len(path.data) if isinstance(path, ImageBytes) else regular(path).st_size
    if nbytes > WIDEST * max_pixels + HEADERS:
        raise _too_large(path, f"{nbytes} bytes, {WIDEST} for a pixel", max_pixels)


def reject_large_picture(path: PictureFile, size: tuple[int, int], max_pixels: int) -> None:
    width, height = size
    if width * height > max_pixels:
        raise _too_large(path, f"{width} x {height} pixels", max_pixels)
    if max(size) > LONGEST_SIDE:
        raise DataError(
            f"{path} has {width} x {height} pixels; no side may exceed {LONGEST_SIDE}", "cut it, or remove it"
        )


def _too_large(path: PictureFile, found: str, max_pixels: int) -> DataError:
    problem = f"{path} has {found}, above data.max_pixels={max_pixels}"
    return DataError(problem, "make it smaller, remove it, or raise data.max_pixels")


def reject_excess(what: str, nbytes: int, max_bytes: int) -> None:
    if nbytes > max_bytes:
        problem = f"{what} needs {nbytes} bytes of memory, above data.max_bytes={max_bytes}"
        raise DataError(problem, "use fewer or smaller ones, or raise data.max_bytes")


def out_of_memory(what: str) -> DataError:
    return DataError(f"{what} do not fit into memory", "use fewer or smaller ones, or a machine with more memory")


def room(shape: tuple[int, ...]) -> NDArray[np.uint8]:
    try:
        return np.empty(shape, np.uint8)
    except (MemoryError, ValueError) as error:
        raise out_of_memory(f"{shape[0]} images of {shape[1]} x {shape[2]} x {shape[3]}") from error
