"""A user's own images in folders: one per class, with or without a test part, or one per site."""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
import torch
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from mooring.data._dicom import Levels
from mooring.data._file_images import Decoding, FileImages, pixel_digest
from mooring.data._image_tree import (
    PARENT_FOLDER,
    WANTED,
    ImageFile,
    TrainAndTest,
    count_loose,
    divide,
    grouped,
    list_classes,
    recognise,
    reject_shared_groups,
    subfolders,
    with_progress,
)
from mooring.data._images import Contrast, DataWarning, ImageSet, Source
from mooring.data._limits import IN_MEMORY, MAX_PIXELS, guard, out_of_memory, reject_excess, room
from mooring.data._locate import own_path
from mooring.data._pixels import PixelFit, PixelReading, require_decoders
from mooring.data._similarity import group_copies
from mooring.errors import ConfigError, DataError, one_line
from mooring.schema import ADDED_LATER, Count, Doc

SHOWN = 5  # corrupt files, or endings of ignored ones, named in a message
USUAL_SIZE = 32  # what networks for small images take
later = {ADDED_LATER: True}


@dataclass(frozen=True)
class ImageFolder(Source):
    """Images in folders, made square. Classes are the sorted folder names, the same for both parts.

    `size` None: the size that the method's encoder takes, otherwise 32. `group` keeps images together that belong
    together: `parent-folder`, or a regular expression that finds the name of the group in a path below `root`.
    """

    source: ClassVar[str] = "image_folder"
    wanted: ClassVar[str | None] = WANTED
    layout: Annotated[
        Literal["auto", "split", "tree", "sites"],
        Doc("`split` (train/, test/), `tree` (classes), `sites` (sites, then classes)"),
    ] = "auto"
    held_out: Annotated[
        float,
        Gt(0),
        Lt(1),
        Doc("test share of folders without a test part, chosen by file name"),
    ] = 0.2
    size: Annotated[
        Count | None,
        Doc("pixels per side; `null`: what the encoder takes, else 32"),
    ] = None
    channels: Annotated[Literal[1, 3], Doc("`3` for colour, `1` for grey")] = 3
    corrupt: Annotated[Literal["skip", "error"], Doc("an unreadable file: `skip` with a warning, or `error`")] = "skip"
    max_pixels: Annotated[
        Count,
        Doc("largest image; a larger one is an error"),
    ] = guard(MAX_PIXELS)
    max_bytes: Annotated[
        Count,
        Doc("memory for decoded pixels; above it, images are decoded on demand"),
    ] = guard(IN_MEMORY)
    fit: Annotated[PixelFit, Doc("images that are not square: `crop` the centre, `pad` with black, or `stretch`")] = (
        field(default="crop", metadata=later)
    )
    levels: Annotated[
        Levels | None,
        Doc(
            "values of black and white in images above 8 bits; `null`: the full range ([deep "
            "images](image-folders.md#deep-images))"
        ),
    ] = field(default=None, metadata=later)
    group: Annotated[
        str | None,
        Doc(
            "images that stay together: `parent-folder`, or a regular expression for the path "
            "([patients](image-folders.md#patients))"
        ),
    ] = field(default=None, metadata=later)
    split: Annotated[
        Literal["by-name", "grouped"],
        Doc("`grouped`: near-copies stay on one side of the test split ([copies](check.md#copies))"),
    ] = field(default="by-name", metadata=later)
    classes: Annotated[
        dict[str, str],
        Doc("folder name: class name, such as `{Cat: cat}`"),
    ] = field(default_factory=dict, metadata=later)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels is not None and self.levels[0] == self.levels[1]:
            raise ConfigError([f"levels={list(self.levels)}: black and white are the same; give two values"])
        try:
            re.compile(self.group or "")
        except re.error as error:
            raise ConfigError(
                [f"group={self.group}: is not a regular expression ({error}); use {PARENT_FOLDER}, or mend it"]
            ) from None

    def for_size(self, wanted: Callable[[], int | None]) -> "ImageFolder":
        decided = self if self.public is None else replace(self, public=self.public.for_size(wanted))
        return decided if self.size is not None else replace(decided, size=wanted() or USUAL_SIZE)

    def image_shape(self) -> tuple[int, int, int] | None:
        return None if self.size is None else (self.channels, self.size, self.size)

    def held_out_share(self) -> float:
        layout = recognise(own_path(self.root, WANTED), self.group) if self.layout == "auto" else self.layout
        return 0.0 if layout == "split" else self.held_out

    def has_sites(self) -> bool:
        if self.layout != "auto":
            return self.layout == "sites"
        try:
            return recognise(own_path(self.root, WANTED), self.group) == "sites"
        except (DataError, OSError):  # reported when it is read
            return False

    def reading(self) -> PixelReading:
        return PixelReading(self.fit, self.levels)

    def training_files(self) -> list[Path]:
        """The files that `train` reads."""
        train, _ = self.files(Counter())
        return [file.path for file in train]

    def files(self, ignored: Counter[str]) -> TrainAndTest:
        """The files that `train` and `test` read; other files are counted in `ignored`, by their endings."""
        return self._listed(self._divided, ignored)

    def train(self) -> ImageSet:
        ignored: Counter[str] = Counter()
        train, _ = self.files(ignored)
        _report_ignored(ignored)
        images = self._read(train, train)
        for label, count in zip(images.classes, images.label_counts(), strict=True):
            if count == 0:
                raise DataError(
                    f"{self.root}: class {label!r} has no readable training image", "replace its files or remove it"
                )
        return images

    def test(self) -> ImageSet:
        train, test = self._listed(self._tested, Counter())
        return self._read(test, train)

    def _listed(self, parts: Callable[[Path, Counter[str]], TrainAndTest], ignored: Counter[str]) -> TrainAndTest:
        root = own_path(self.root, WANTED)
        try:
            return parts(root, ignored)
        except OSError as error:
            raise DataError(f"{root} cannot be listed: {error}", f"set data.root to {WANTED}") from error

    def _tested(self, root: Path, ignored: Counter[str]) -> TrainAndTest:
        """A server needs no training images: if only test/ exists, its folders are the classes."""
        if self.layout in ("auto", "split") and (root / "test").is_dir() and not (root / "train").exists():
            alone = self._grouped(list_classes(root / "test", ignored), root)
            return alone, alone
        return self._divided(root, ignored)

    def _divided(self, root: Path, ignored: Counter[str]) -> TrainAndTest:
        layout = recognise(root, self.group) if self.layout == "auto" else self.layout
        if layout == "split":
            return self._split(root, ignored)
        if layout == "tree":
            files = self._grouped(list_classes(root, ignored), root)
        else:
            count_loose(root, ignored)
            sites = subfolders(root)
            files = self._grouped([file for site in sites for file in list_classes(site, ignored, site.name)], root)
        return divide(files if self.split == "by-name" else group_copies(files, root), root, self.held_out)

    def _split(self, root: Path, ignored: Counter[str]) -> TrainAndTest:
        if self.split == "grouped":
            raise DataError(
                f"data.split=grouped: {root} has a train/ and a test/ part already",
                "move the copies that mooring check names, or put all images into <class>/*",
            )
        count_loose(root, ignored)
        train, test = (self._grouped(list_classes(root / part, ignored), root) for part in ("train", "test"))
        known = {file.label for file in train}
        stranger = next((file for file in test if file.label not in known), None)
        if stranger is not None:
            raise DataError(
                f"test class {stranger.label!r} ({stranger.folder}) is not in {root / 'train'}",
                "use the same class folders in train/ and test/",
            )
        if self.group is not None:
            reject_shared_groups(train, test, self.group)
        return train, test

    def _grouped(self, files: list[ImageFile], root: Path) -> list[ImageFile]:
        named = [replace(file, renamed=self.classes.get(file.folder.name)) for file in files]
        return named if self.group is None else grouped(named, root, self.group)

    def _read(self, files: Sequence[ImageFile], train: Sequence[ImageFile]) -> ImageSet:
        classes = tuple(sorted({file.label for file in train}))
        return self.read(files, classes, {label: number for number, label in enumerate(classes)})

    def read(self, files: Sequence[ImageFile], classes: tuple[str, ...], numbers: Mapping[str, int]) -> ImageSet:
        """The images of these files; `numbers` maps folders to classes.

        Every file is decoded once, to find broken ones. Pixels above `max_bytes` are then given up, and decoded again
        when they are needed.
        """
        require_decoders(file.path for file in files)
        size = self.size or USUAL_SIZE
        decoding = Decoding(size, self.channels, self.max_pixels, self.fit, self.levels)
        one = self.channels * size * size
        streamed = len(files) * one > self.max_bytes
        reject_excess(f"{self.root}: one image of {self.channels} x {size} x {size}", one, self.max_bytes)
        pixels = room((0 if streamed else len(files), self.channels, size, size))
        kept: list[ImageFile] = []
        digests: list[bytes] = []
        corrupt: list[Path] = []
        contrast, content = Contrast(), sha256()
        for file, image in self._decoded(files, decoding, corrupt):
            contrast.see(image)
            if streamed:
                digests.append(pixel_digest(image))
                content.update(image.data)
            else:
                pixels[len(kept)] = image
            kept.append(file)
        self._report(corrupt, len(files))
        if not kept:
            raise DataError(
                f"no readable image among {len(files)} under {self.root}", "add images, or raise data.held_out"
            )
        contrast.report()
        labels = torch.tensor([numbers[file.label] for file in kept])
        sites = tuple(file.site for file in kept if file.site is not None)
        groups = tuple(file.group for file in kept if file.group is not None)
        if not streamed:
            return ImageSet(torch.from_numpy(pixels[: len(kept)]), labels, classes, sites or None, groups or None)
        content.update(labels.numpy().tobytes())
        images = FileImages(tuple(file.path for file in kept), tuple(digests), decoding)
        return ImageSet(images, labels, classes, sites or None, groups or None, content.hexdigest())

    def _decoded(
        self, files: Sequence[ImageFile], decoding: Decoding, corrupt: list[Path]
    ) -> Iterator[tuple[ImageFile, NDArray[np.uint8]]]:
        """Every file that can be decoded, and its pixels; the others are added to `corrupt`."""
        for file in with_progress(files):
            try:
                image = np.ascontiguousarray(decoding(file.path))
            except DataError:  # too large, or of unknown values: leaving it out would change the data
                raise
            except MemoryError as error:
                raise out_of_memory(f"the pixels of {file.path}") from error
            except Exception:  # a broken file makes a decoder raise almost anything
                corrupt.append(file.path)
                continue
            yield file, image

    def _report(self, corrupt: Sequence[Path], files: int) -> None:
        if not corrupt:
            return
        more = f" and {len(corrupt) - SHOWN} more" if len(corrupt) > SHOWN else ""
        named = f"{len(corrupt)} of {files} images cannot be read: {', '.join(map(str, corrupt[:SHOWN]))}{more}"
        if self.corrupt == "error":
            raise DataError(named, 'replace them, or set data.corrupt to "skip"')
        warnings.warn(one_line(f"{named}; they are left out"), DataWarning, stacklevel=5)


def _report_ignored(ignored: Counter[str]) -> None:
    if not ignored:
        return
    endings = ", ".join(f"{count} {ending}" for ending, count in ignored.most_common(SHOWN))
    rest = sum(ignored.values()) - sum(count for _, count in ignored.most_common(SHOWN))
    warnings.warn(one_line(f"ignored: {endings}{f' and {rest} others' if rest else ''}"), DataWarning, stacklevel=3)
