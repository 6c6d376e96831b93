"""A user's own images in folders: one per class, with or without a test part, or one per site."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
import torch
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from mooring.data.image_tree import WANTED, ImageFile, divide, list_classes, recognise, subfolders
from mooring.data.images import DataWarning, ImageSet, Source
from mooring.data.limits import MAX_BYTES, MAX_PIXELS, guard, out_of_memory, refuse_excess
from mooring.data.locate import own_path
from mooring.data.pixels import decode
from mooring.errors import DataError, one_line
from mooring.types import Count

Parts = tuple[list[ImageFile], list[ImageFile]]  # training, test
SHOWN = 5  # corrupt files named in a message


@dataclass(frozen=True)
class ImageFolder(Source):
    """Images as they lie in folders, made square; classes are the sorted folder names, the same for both parts."""

    source: ClassVar[str] = "image_folder"
    layout: Literal["auto", "split", "tree", "sites"] = "auto"
    held_out: Annotated[float, Gt(0), Lt(1)] = 0.2  # the test share of a `tree` and of each of the `sites`
    size: Count = 32
    channels: Literal[1, 3] = 3
    corrupt: Literal["skip", "error"] = "skip"
    max_pixels: Count = guard(MAX_PIXELS)  # of one image, as it lies on disk
    max_bytes: Count = guard(MAX_BYTES)  # of one part, decoded and resized

    def image_shape(self) -> tuple[int, int, int]:
        return self.channels, self.size, self.size

    def train(self) -> ImageSet:
        train, _ = self._listed(self._divided)
        images = self._read(train, train)
        for label, count in zip(images.classes, images.label_counts(), strict=True):
            if count == 0:
                raise DataError(
                    f"{self.root}: class {label!r} has no readable training image", "replace its files or remove it"
                )
        return images

    def test(self) -> ImageSet:
        train, test = self._listed(self._tested)
        return self._read(test, train)

    def _listed(self, parts: Callable[[Path], Parts]) -> Parts:
        root = own_path(self.root, WANTED)
        try:
            return parts(root)
        except OSError as error:
            raise DataError(f"{root} cannot be listed: {error}", f"set data.root to {WANTED}") from error

    def _tested(self, root: Path) -> Parts:
        """A server needs no training images: test/ may stand alone, and names the classes then."""
        if self.layout in ("auto", "split") and (root / "test").is_dir() and not (root / "train").exists():
            alone = list_classes(root / "test")
            return alone, alone
        return self._divided(root)

    def _divided(self, root: Path) -> Parts:
        layout = recognise(root) if self.layout == "auto" else self.layout
        if layout == "split":
            train, test = list_classes(root / "train"), list_classes(root / "test")
            known = {file.label for file in train}
            stranger = next((file for file in test if file.label not in known), None)
            if stranger is not None:
                raise DataError(
                    f"test class {stranger.label!r} ({stranger.path.parent}) is not in {root / 'train'}",
                    "use the same class folders in train/ and test/",
                )
            return train, test
        if layout == "tree":
            return divide(list_classes(root), root, self.held_out)
        files = [file for site in subfolders(root) for file in list_classes(site, site.name)]
        return divide(files, root, self.held_out)

    def _read(self, files: Sequence[ImageFile], train: Sequence[ImageFile]) -> ImageSet:
        classes = tuple(sorted({file.label for file in train}))
        numbers = {label: number for number, label in enumerate(classes)}
        pixels = self._room(len(files))
        kept: list[ImageFile] = []
        corrupt: list[Path] = []
        for file in files:
            try:
                pixels[len(kept)] = decode(file.path, self.size, self.channels, self.max_pixels)
                kept.append(file)
            except DataError:  # too large: leaving it out would change the data for the sake of the machine
                raise
            except MemoryError as error:
                raise out_of_memory(f"the pixels of {file.path}") from error
            except Exception:  # a broken file makes a decoder raise almost anything
                corrupt.append(file.path)
        self._report(corrupt, len(files))
        if not kept:
            raise DataError(
                f"no readable image among {len(files)} under {self.root}", "add images, or raise data.held_out"
            )
        labels = torch.tensor([numbers[file.label] for file in kept])
        sites = tuple(file.site for file in kept if file.site is not None)
        return ImageSet(torch.from_numpy(pixels[: len(kept)]), labels, classes, sites or None)

    def _room(self, count: int) -> NDArray[np.uint8]:
        shape = (count, self.channels, self.size, self.size)
        images = f"{self.root}: {count} images of {self.channels} x {self.size} x {self.size}"
        refuse_excess(images, math.prod(shape), self.max_bytes)
        try:
            return np.empty(shape, np.uint8)
        except (MemoryError, ValueError) as error:
            raise out_of_memory(images) from error

    def _report(self, corrupt: Sequence[Path], files: int) -> None:
        if not corrupt:
            return
        more = f" and {len(corrupt) - SHOWN} more" if len(corrupt) > SHOWN else ""
        named = f"{len(corrupt)} of {files} images cannot be read: {', '.join(map(str, corrupt[:SHOWN]))}{more}"
        if self.corrupt == "error":
            raise DataError(named, 'replace them, or set data.corrupt to "skip"')
        warnings.warn(one_line(f"{named}; they are left out"), DataWarning, stacklevel=4)
