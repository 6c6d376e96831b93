"""Labelled images in memory, and the source they come from."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mooring.data._file_images import FileImages, Images, pixel_digest, select_images
from mooring.data._locate import Download
from mooring.data._pixels import PixelReading
from mooring.schema import ADDED_LATER, Checked, Count, Doc, FilePath, OpenFraction

VALUES = 2**23  # of images that pass through a network at once


class DataWarning(UserWarning):
    """Some data was left out."""


@dataclass(frozen=True)
class ImageSet:
    """Images as uint8 (N, C, H, W) and their labels.

    `images` is a tensor, or `FileImages` if a folder has too many for memory: `images[a:b]` and `images[positions]` are
    tensors in both cases. `sites` names the site of each image, if there are sites. Images of one group, such as those
    of one patient, are never divided between training and testing.

    >>> import torch
    >>> from mooring import ImageSet
    >>> images = ImageSet(torch.zeros(3, 1, 8, 8, dtype=torch.uint8), torch.tensor([0, 1, 1]), ("cat", "dog"))
    >>> len(images), images.shape, images.label_counts()
    (3, (1, 8, 8), (1, 2))
    """

    images: Images = field(repr=False)  # (N, C, H, W), uint8
    labels: Tensor = field(repr=False)  # (N,), int64
    classes: tuple[str, ...]
    sites: tuple[str, ...] | None = field(default=None, repr=False)  # one per image
    groups: tuple[str, ...] | None = field(default=None, repr=False)  # one per image
    content: str | None = field(default=None, repr=False, compare=False)  # SHA-256, if it is known already

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def shape(self) -> tuple[int, int, int]:
        channels, height, width = self.images.shape[1:]
        return channels, height, width

    def select(self, indices: Tensor) -> "ImageSet":
        sites, groups = (
            None if names is None else tuple(names[i] for i in indices.tolist()) for names in (self.sites, self.groups)
        )
        images = select_images(self.images, indices)
        return ImageSet(images, self.labels[indices], self.classes, sites, groups)

    def sha256(self) -> str:
        """Of all pixels and labels, in their order; images in files are decoded for it, unless it is known."""
        if self.content is not None:
            return self.content
        content = sha256()
        for own in batch_slices(self.images, len(self)):
            content.update(self.images[own].contiguous().numpy().reshape(-1).data)
        content.update(self.labels.numpy().tobytes())
        return content.hexdigest()

    def image_digests(self) -> tuple[bytes, ...]:
        """SHA-256 of the pixels of each image; files are not decoded for it."""
        if isinstance(self.images, FileImages):
            return self.images.digests
        return tuple(pixel_digest(image) for image in self.images.contiguous().numpy())

    def identity(self) -> str:
        """A hash that tells these images and labels from others, however they are held."""
        return sha256(b"".join(self.image_digests()) + self.labels.numpy().tobytes()).hexdigest()

    def label_counts(self) -> tuple[int, ...]:
        return tuple(torch.bincount(self.labels, minlength=len(self.classes)).tolist())


def batch_slices(images: Images, most: int) -> list[slice]:
    """All images in order, at most `most` at once and at most 2^23 values, to limit the memory of a forward pass."""
    step = max(1, min(most, VALUES // max(1, images.shape[1:].numel())))
    return [slice(start, min(start + step, len(images))) for start in range(0, max(1, len(images)), step)]


def batches(images: Images, most: int) -> Iterator[Tensor]:
    """The images of these slices, one batch after the other."""
    return (images[own] for own in batch_slices(images, most))


@dataclass(frozen=True)
class Overview:
    """Counts and files of a data set that was found, without decoding its images where the format allows."""

    train: int
    test: int
    classes: int
    shape: tuple[int, int, int]
    files: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Source(Checked, ABC):
    """Where images come from. A source reads its training and its test part; it never mixes them.

    `mean` and `std` normalise images for training and testing. `mirror` says whether a flipped image is
    still an image of its class. A public data set has an `overview`, and a `download` if it can be fetched. A source
    of users' own data says what `data.root` must be (`wanted`).

    >>> from mooring.data._digits import Digits
    >>> digits = Digits()
    >>> len(digits.train()), len(digits.test())
    (1437, 360)
    """

    source: ClassVar[str]
    mean: ClassVar[tuple[float, ...]] = (0.5,)
    std: ClassVar[tuple[float, ...]] = (0.5,)
    mirror: ClassVar[bool] = True
    official_test: ClassVar[int | None] = None  # images of the official test set, if there is one
    test_part: ClassVar[str] = "those set aside for testing in the data of the run"
    download: ClassVar[Download | None] = None
    wanted: ClassVar[str | None] = None

    root: Annotated[FilePath | None, Doc("folder of the files; `null`: `$MOORING_DATA`, else `~/.cache/mooring`")] = (
        None
    )
    limit: Annotated[Count | None, Doc("size of a stratified subset of the training images")] = None
    validation: Annotated[OpenFraction, Doc("share of the training images that the server holds for validation")] = 0.0
    public_ratio: Annotated[
        OpenFraction | None,
        Doc("share of the training images that is public; `null`: 0.1 if the method needs them, else 0"),
    ] = None
    public: Annotated[
        "Source | None",
        Doc("another source of public images, with its own keys"),
    ] = None
    test_limit: Annotated[Count | None, Doc("number of test images, stratified; the same for every run and seed")] = (
        field(default=None, metadata={ADDED_LATER: True})
    )

    def overview(self) -> Overview | None:
        """What is on this disk; None for users' own data. A `DataError` says what is missing."""
        return None

    def held_out_share(self) -> float:
        """The share of the images that is kept for testing, if the files have no test part."""
        return 0.0

    def has_sites(self) -> bool:
        """Is the site of each image known without reading it?"""
        return False

    def image_shape(self) -> tuple[int, int, int] | None:
        """Channels, height and width of one image, if they are known before anything is read."""
        return None

    def for_size(self, wanted: Callable[[], int | None]) -> "Source":
        """This source with a fixed image size. `wanted` returns the size that the method takes.

        A source whose images have a size of their own keeps it. Called when an experiment is made, so that its
        fingerprint and its record contain the size.
        """
        return self if self.public is None else replace(self, public=self.public.for_size(wanted))

    def reading(self) -> PixelReading:
        """How its files become images; a predictor reads new images in the same way."""
        return PixelReading()

    @abstractmethod
    def train(self) -> ImageSet:
        """The training images, in the order of the files."""

    @abstractmethod
    def test(self) -> ImageSet:
        """The test images, the official ones if there are any; called by `evaluate.py` only."""


FAINT = 32  # of 256 shades: images that have no more between all of them were read with the wrong levels


@dataclass
class Contrast:
    """The darkest and the brightest value of all images: 12 bits stored in 16 are almost black."""

    low: int = 255
    high: int = 0
    images: int = 0

    def see(self, pixels: NDArray[np.uint8]) -> None:
        self.low, self.high = min(self.low, int(pixels.min())), max(self.high, int(pixels.max()))
        self.images += 1

    def report(self) -> None:
        if self.high - self.low < FAINT and self.images > 1:
            message = f"all pixels of {self.images} images lie between {self.low} and {self.high} of 255"
            remedy = "set data.levels=[BLACK, WHITE] to the values that mean black and white, such as [0, 4095]"
            warnings.warn(f"{message}; if the files hold more than 8 bits, {remedy}", DataWarning, stacklevel=6)
