"""Sites: the holders of data, and the only ones that open it. A site is simulated, in memory, or a folder of images
that is mapped to the classes of a job."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from mooring.data._image_folder import ImageFolder
from mooring.data._image_tree import ImageFile, images_below, subfolders
from mooring.data._images import ImageSet
from mooring.errors import DataError, nearest

TRAIN = "train"  # the part to learn from, where a folder has one


class Site(Protocol):
    """One client and its data. Others know only what it sends."""

    @property
    def name(self) -> str: ...

    @property
    def number(self) -> int: ...

    @property
    def size(self) -> int | None:
        """About how many images it holds, if that is known before it opens them: the largest begin first."""
        ...

    def shard(self) -> ImageSet: ...


@dataclass(frozen=True)
class SimulatedSite:
    """A site of a simulation: some images of a set in the memory of this machine."""

    name: str
    number: int
    images: ImageSet = field(repr=False)
    indices: np.ndarray = field(repr=False)

    @property
    def size(self) -> int:
        return len(self.indices)

    def shard(self) -> ImageSet:
        return self.images.select(torch.from_numpy(self.indices))


@dataclass(frozen=True)
class InMemorySite:
    """A site whose images are in this process."""

    number: int
    images: ImageSet = field(repr=False)
    name: str = ""

    @property
    def size(self) -> int:
        return len(self.images)

    def shard(self) -> ImageSet:
        return self.images


def site_names(owners: Sequence[str] | None, indices: Sequence[np.ndarray]) -> tuple[str, ...]:
    """Every client by the natural owner of its images, where each has one of its own; else by number."""
    numbered = tuple(f"client {number}" for number in range(len(indices)))
    if owners is None:
        return numbered
    found = [sorted({owners[i] for i in own.tolist()}) for own in indices]
    names = [own[0] for own in found if len(own) == 1]
    return tuple(names) if len(set(names)) == len(indices) else numbered


@dataclass(frozen=True)
class ClassFolder:
    """A folder, what class its images are of, and how many they are; None: of none that was asked for."""

    name: str
    label: str | None
    files: tuple[ImageFile, ...] = field(repr=False)


@dataclass(frozen=True)
class SiteFolder:
    """A site with images in root/<class>/*, or in root/train/<class>/* next to a test part that is not opened.

    A folder is of the class of its name, in whatever letters, or of the one that `mapping` or `images.classes` says.
    """

    name: str
    number: int
    root: Path
    classes: tuple[str, ...]
    images: ImageFolder  # how files become images
    mapping: Mapping[str, str] = field(default_factory=dict)  # folder -> class

    @cached_property
    def folders(self) -> tuple[ClassFolder, ...]:
        """Every folder and its class, by name."""
        if not self.root.is_dir():
            raise DataError(f"{self.root}: is not a folder", "name the folder that holds one folder for each class")
        try:
            place = self.root / TRAIN
            found = subfolders(place if place.is_dir() and TRAIN not in self.classes else self.root)
            listed = [(folder, images_below(folder, self.ignored)) for folder in found]
        except OSError as error:
            raise DataError(f"{self.root} cannot be listed: {error}", "allow reading it") from None
        labels = self._labels([folder.name for folder in found])
        return tuple(
            ClassFolder(folder.name, labels[folder.name], tuple(ImageFile(path, folder) for path in paths))
            for folder, paths in listed
        )

    @cached_property
    def ignored(self) -> Counter[str]:
        """Files that are not images, by their ending."""
        return Counter()

    @property
    def size(self) -> int:
        return len(self.files)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many files there are of each class, before any is opened."""
        found = dict.fromkeys(self.classes, 0)
        for folder in self.folders:
            if folder.label is not None:
                found[folder.label] += len(folder.files)
        return found

    def shard(self) -> ImageSet:
        if not self.files:
            names = ", ".join(folder.name for folder in self.folders[:5]) or "none"
            raise DataError(
                f"{self.root}: has no images of any class of this job (folders: {names})",
                f"its folders must be named {', '.join(self.classes[:5])}, or say --map FOLDER=CLASS",
            )
        return self._read(self.files)

    def sample(self, most: int) -> ImageSet:
        """A few of its images, spread over all of them."""
        return self._read(self.files[:: max(1, len(self.files) // most)][:most])

    @cached_property
    def files(self) -> list[ImageFile]:
        """All images that are asked for, folder by folder."""
        return [file for folder in self.folders if folder.label is not None for file in folder.files]

    def _read(self, files: list[ImageFile]) -> ImageSet:
        numbers = {folder.name: self.classes.index(folder.label) for folder in self.folders if folder.label is not None}
        return self.images.read(files, self.classes, numbers)

    def _labels(self, names: list[str]) -> dict[str, str | None]:
        for folder, label in self.mapping.items():
            if label not in self.classes:
                raise DataError(f"--map {folder}={label}: is not a class of this job", nearest(label, self.classes))
            if folder not in names:
                raise DataError(f"--map {folder}={label}: there is no such folder", nearest(folder, names))
        known = {label.casefold(): label for label in self.classes}
        agreed = {name: self.images.classes.get(name, name).casefold() for name in names}
        return {name: self.mapping.get(name, known.get(agreed[name])) for name in names}
