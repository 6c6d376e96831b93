"""Images that stay in their files: a batch is decoded when it is needed, so memory does not grow with their number."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mooring.data._dicom import Levels
from mooring.data._limits import out_of_memory
from mooring.data._pixels import PixelFit, decode_image
from mooring.errors import DataError
from mooring.processes import check_stop


@dataclass(frozen=True)
class Decoding:
    """How a file becomes pixels (channels, size, size)."""

    size: int
    channels: Literal[1, 3]
    max_pixels: int
    fit: PixelFit
    levels: Levels | None

    def __call__(self, path: Path) -> NDArray[np.uint8]:
        return decode_image(path, self.size, self.channels, self.max_pixels, self.fit, self.levels)


@dataclass(frozen=True)
class FileImages:
    """Images uint8 (N, C, H, W) that are decoded whenever they are indexed, with a slice or with positions.

    Each file must give the pixels that it gave when the images were listed: `digests` has their SHA-256.
    """

    paths: tuple[Path, ...] = field(repr=False)
    digests: tuple[bytes, ...] = field(repr=False)
    decoding: Decoding

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def shape(self) -> torch.Size:
        return torch.Size((len(self), self.decoding.channels, self.decoding.size, self.decoding.size))

    def __getitem__(self, chosen: "slice | Tensor") -> Tensor:
        own = self.select(chosen)
        pixels = np.empty(own.shape, np.uint8)
        for place, decoded in enumerate(own):
            pixels[place] = decoded
        return torch.from_numpy(pixels)

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        """One image after the other."""
        for path, digest in zip(self.paths, self.digests, strict=True):
            check_stop()
            yield self._decoded(path, digest)

    def select(self, chosen: "slice | Tensor") -> "FileImages":
        """Some of them, still in their files."""
        places = range(len(self))[chosen] if isinstance(chosen, slice) else positions(chosen)
        paths, digests = tuple(self.paths[i] for i in places), tuple(self.digests[i] for i in places)
        return FileImages(paths, digests, self.decoding)

    def _decoded(self, path: Path, digest: bytes) -> NDArray[np.uint8]:
        try:
            pixels = np.ascontiguousarray(self.decoding(path))
        except MemoryError as error:
            raise out_of_memory(f"the pixels of {path}") from error
        except Exception as error:  # it could be decoded before: whatever is wrong now, the file is another
            raise changed(path) from error
        if pixel_digest(pixels) != digest:
            raise changed(path)
        return pixels


Images = Tensor | FileImages


def positions(chosen: Tensor) -> list[int]:
    """Of a list of positions, or of a mask."""
    where: list[int] = (chosen.nonzero().flatten() if chosen.dtype == torch.bool else chosen).tolist()
    return where


def select_images(images: Images, chosen: Tensor) -> Images:
    """Some of the images, in memory or in files as before."""
    return images.select(chosen) if isinstance(images, FileImages) else images[chosen]


def in_memory(images: Images) -> Tensor:
    return images[:] if isinstance(images, FileImages) else images


def pixel_digest(pixels: NDArray[np.uint8]) -> bytes:
    return sha256(pixels.data).digest()


def changed(path: Path) -> DataError:
    return DataError(f"{path}: has changed while it was in use", "leave the images alone until the command has ended")
