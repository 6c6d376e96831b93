"""Image files that somebody asks a model about: found in folders, read as its training images were, scored."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from mooring.data import (
    MAX_PIXELS,
    SUFFIXES,
    ImageBytes,
    PictureFile,
    PixelReading,
    decode_image,
    images_below,
    require_decoders,
    subfolders,
    with_progress,
)
from mooring.errors import DataError, ModelError, MooringError, nearest
from mooring.federation._look import look
from mooring.federation._model_file import ModelFile
from mooring.models import Blueprint

AT_ONCE = 64  # images scored together
BROKEN = "cannot be read as an image"


@dataclass(frozen=True)
class LabelledFile:
    """An image file, the class that its folder says, and the site above it if there is one."""

    path: Path
    label: int
    site: str | None = None


@dataclass(frozen=True)
class ScoredFile:
    """A file and the scores of its classes, or why there are none."""

    path: Path
    scores: Tensor | None = None  # (C,), of the predictor
    problem: str = ""
    distances: Tensor | None = None  # (C seen,), from the training images of each class, where the model can tell


@dataclass(frozen=True)
class Square:
    """What files are brought to before a predictor sees them."""

    size: int
    channels: Literal[1, 3]
    reading: PixelReading


def scored(model: ModelFile, files: Sequence[Path]) -> Iterator[ScoredFile]:
    """Every file in its order; an unreadable file is reported and does not stop the others."""
    square = square_of(model.blueprint, model.provenance.reading)
    require_decoders(files)
    waiting: list[tuple[Path, Tensor | str]] = []
    for path in with_progress(files):
        waiting.append((path, read_pixels(path, square)))
        if len(waiting) == AT_ONCE:
            yield from flushed(model, waiting)
            waiting.clear()
    yield from flushed(model, waiting)


def scored_image(model: ModelFile, image: ImageBytes, max_pixels: int) -> ScoredFile:
    """The same for an image that came over a connection."""
    require_decoders([image])
    pixels = read_pixels(image, square_of(model.blueprint, model.provenance.reading), max_pixels)
    [row] = flushed(model, [(Path(str(image)), pixels)])
    return row


def flushed(model: ModelFile, waiting: Sequence[tuple[Path, Tensor | str]]) -> Iterator[ScoredFile]:
    """Files that were read, scored in one go, and the others between them."""
    images = [image for _, image in waiting if isinstance(image, Tensor)]
    rows = iter(look(model, torch.stack(images)).rows() if images else ())
    for path, image in waiting:
        if isinstance(image, Tensor):
            scores, distances = next(rows)
            yield ScoredFile(path, scores, distances=distances)
        else:
            yield ScoredFile(path, problem=image)


def read_pixels(path: PictureFile, square: Square, max_pixels: int = MAX_PIXELS) -> Tensor | str:
    """The pixels of a file, or what is wrong with it."""
    reading = square.reading
    try:
        pixels = decode_image(path, square.size, square.channels, max_pixels, reading.fit, reading.levels)
    except MooringError as error:  # too large, or of values that may mean anything
        return error.problem.removeprefix(f"{path} ")
    except MemoryError:
        return "does not fit into memory"
    except Exception:  # a broken file makes a decoder raise almost anything
        return BROKEN
    return torch.from_numpy(pixels.copy())


def square_of(blueprint: Blueprint, reading: PixelReading) -> Square:
    """Files become squares, grey or in colour; a model of other images is used from Python."""
    channels, height, width = blueprint.shape
    if height != width or channels not in (1, 3):
        raise ModelError(
            f"the model takes images of {channels} x {height} x {width}, and files become squares of 1 or 3 channels",
            "call its predictor from Python",
        )
    return Square(height, 1 if channels == 1 else 3, reading)


def found(paths: Sequence[Path]) -> tuple[list[Path], Counter[str]]:
    """Files as they were named, and the images below every folder; what is no image there is counted by its ending."""
    ignored: Counter[str] = Counter()
    files: list[Path] = []
    for path in paths:
        try:
            if path.is_dir():
                files += images_below(path, ignored)
            elif path.exists():
                files.append(path)
            else:
                raise DataError(f"{path}: is not there", "name image files, or folders with some")
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror})", "name image files, or folders") from None
    if not files:
        raise DataError(f"{', '.join(map(str, paths))}: no images ({', '.join(SUFFIXES)})", "name others")
    return files, ignored


def labelled_files(root: Path, classes: Sequence[str]) -> list[LabelledFile]:
    """All images of root/<class>/ and root/<site>/<class>/, at any depth below; other folders are rejected by name."""
    try:
        files = [file for folder in subfolders(root) for file in _of_folder(folder, classes)]
    except OSError as error:
        raise DataError(
            f"{root}: cannot be listed ({error.strerror})", "name a folder with a folder per class"
        ) from None
    if not files:
        raise DataError(f"{root}: holds no images in folders named by class", f"its folders must be {_some(classes)}")
    return files


def _of_folder(folder: Path, classes: Sequence[str]) -> list[LabelledFile]:
    if folder.name in classes:
        return _of_class(folder, classes, None)
    inner = subfolders(folder)
    if not any(own.name in classes for own in inner):
        raise _no_class(folder, classes)
    return [file for own in inner for file in _of_class(own, classes, folder.name)]


def _of_class(folder: Path, classes: Sequence[str], site: str | None) -> list[LabelledFile]:
    if folder.name not in classes:
        raise _no_class(folder, classes)
    label = classes.index(folder.name)
    return [LabelledFile(path, label, site) for path in images_below(folder, Counter())]


def _no_class(folder: Path, classes: Sequence[str]) -> DataError:
    return DataError(
        f"{folder}: {folder.name!r} is neither a class of the model nor a site", nearest(folder.name, classes)
    )


def _some(classes: Sequence[str]) -> str:
    return ", ".join(classes[:5]) + (", ..." if len(classes) > 5 else "")
