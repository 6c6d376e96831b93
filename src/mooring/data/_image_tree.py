"""Layouts of image folders: the class and the site of each file, and whether it is for training or for testing; and the
progress of reading many files."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Literal, TypeVar

from mooring.data._partition.base import take_groups
from mooring.data._pixels import SUFFIXES
from mooring.errors import DataError
from mooring.events import Emit, ImagesRead, silent

Layout = Literal["split", "tree", "sites"]
TrainAndTest = tuple[list["ImageFile"], list["ImageFile"]]  # training, test
WANTED = "a folder with train/<class>/* and test/<class>/*, or <class>/*, or <site>/<class>/*"
PARENT_FOLDER = "parent-folder"
NO_ENDING = "without an ending"
TRAINING_WORDS = ("train", "training")
TEST_WORDS = ("test", "testing", "val", "valid", "validation")
SHOWN = 3  # files or groups named in a message
T = TypeVar("T")
PATIENCE, EVERY = 2.0, 5.0  # seconds before the first event, and between two events
_LISTENER: ContextVar[Emit] = ContextVar("listener", default=silent)


@dataclass(frozen=True)
class ImageFile:
    """An image file, with its class, site and group."""

    path: Path
    folder: Path  # of its class
    site: str | None = None
    group: str | None = None  # the images of one group train together or test together
    renamed: str | None = None  # its class, where that is not the name of its folder

    @property
    def label(self) -> str:
        return self.renamed or self.folder.name


def recognise(root: Path, group: str | None = None) -> Layout:
    """The layout that the folders show: `split` by their names, else by how deep the first images lie."""
    tops = subfolders(root)
    reject_other_words(root, [folder.name for folder in tops])
    named = {folder.name for folder in tops} & {"train", "test"}
    if len(named) == 1:
        missing = ({"train", "test"} - named).pop()
        raise DataError(f"{root} has {named.pop()}/ but no {missing}/", f"add {missing}/, or set data.layout")
    if named:
        return "split"
    if any(_is_image(path) for folder in tops for path in _entries(folder)):
        return "tree"
    folders = [folder for top in tops for folder in subfolders(top)]
    if any(_is_image(path) for folder in folders for path in _entries(folder)):
        if group == PARENT_FOLDER:
            raise DataError(
                f"{root}: its images lie in <class>/<group>/* or in <site>/<class>/*", "set data.layout=tree or sites"
            )
        return "sites"
    if group == PARENT_FOLDER and any(_is_image(path) for top in folders for path in _below(top)):
        return "sites"
    raise unexpected(root)


def reject_other_words(root: Path, names: Sequence[str]) -> None:
    """Reject names such as `Training/` and `val/`: as sites, their images would be mixed."""
    if {"train", "test"} <= set(names):
        return
    training = [name for name in names if name.lower() in TRAINING_WORDS]
    testing = [name for name in names if name.lower() in TEST_WORDS]
    if training and testing:
        raise DataError(
            f"{root} has {training[0]}/ and {testing[0]}/",
            f"rename them to train/ and test/, or set data.layout=sites if they are sites (found: {_some(names)})",
        )


def unexpected(root: Path) -> DataError:
    """No layout is recognised: what was found, and what would work."""
    ignored: Counter[str] = Counter()
    images = images_below(root, ignored)
    if not images:
        others = ", ".join(f"{count} {kind}" for kind, count in ignored.most_common(SHOWN))
        found = f"{root} holds no images ({', '.join(SUFFIXES)})" + (f", but {others}" if others else "")
        return DataError(found, f"set data.root to {WANTED}")
    count, first = f"{len(images):,} images", images[0].relative_to(root)
    if len(first.parts) == 1:
        return DataError(
            f"{root} holds {count} and no folders of classes, such as {first}",
            f"put the images of each class into a folder of its own: {root / '<class>' / first.name}",
        )
    above, below = Path(os.path.commonpath([path.parents[1] for path in images])), first.parts[-2]
    remedy = f"put the images of each class into {root / '<class>'} or {root / '<site>' / '<class>'}"
    if above != root:
        remedy = f"set data.root={above} if {below} is a class, else {remedy}"
    else:
        remedy = f"set data.layout=tree if {first.parts[0]} is a class, else {remedy}"
    return DataError(f"{root}: its {count} lie {len(first.parts) - 1} folders deep, such as {first}", remedy)


def list_classes(root: Path, ignored: Counter[str], site: str | None = None) -> list[ImageFile]:
    """All images under root/<class>, at any depth; a class without images is a mistake, not a class.

    Other files are counted in `ignored`, by their endings.
    """
    folders = subfolders(root)
    if not folders:
        raise unexpected(root)
    count_loose(root, ignored)
    files: list[ImageFile] = []
    for folder in folders:
        paths = images_below(folder, ignored)
        if not paths:
            raise DataError(f"class folder {folder} holds no images ({', '.join(SUFFIXES)})", "fill or remove it")
        files += [ImageFile(path, folder, site) for path in paths]
    return files


def count_loose(folder: Path, ignored: Counter[str]) -> None:
    """Count the files next to class folders; they have no class."""
    for path in _entries(folder):
        if path.is_file():
            ignored[f"{_ending(path)} outside class folders" if _is_image(path) else _ending(path)] += 1


def divide(files: list[ImageFile], root: Path, held_out: float) -> TrainAndTest:
    """Training and test files: of every site and class, the `held_out` share whose path has the smallest hash.

    The choice depends on names alone, so it is the same on every machine and under every seed, and one more file
    moves few others. At least one file trains, and at least one tests if there are two. Of files in groups, the hash is
    that of the group's name, and the share is met as nearly as whole groups can.
    """
    strata = Counter((file.site, file.label) for file in files)
    wanted = {stratum: min(max(round(held_out * count), 1), count - 1) for stratum, count in strata.items()}
    groups: dict[str, list[ImageFile]] = {}
    for file in files:
        groups.setdefault(file.group or file.path.relative_to(root).as_posix(), []).append(file)
    ranked = [groups[name] for name in sorted(groups, key=lambda name: sha256(name.encode()).digest())]
    counts = [Counter((file.site, file.label) for file in group) for group in ranked]
    tested = {file for position in take_groups(counts, wanted) for file in ranked[position]}
    return [file for file in files if file not in tested], [file for file in files if file in tested]


def grouped(files: Sequence[ImageFile], root: Path, group: str) -> list[ImageFile]:
    """Every file with its group: its folder at its site, or the match of the expression in its path."""
    name = _parent_folder if group == PARENT_FOLDER else _matched(re.compile(group))
    named = [replace(file, group=name(file, root)) for file in files]
    without = [str(file.path) for file in named if not file.group]
    if without:
        wants = "a folder below its class folder" if group == PARENT_FOLDER else "its path below data.root to match"
        raise DataError(
            f"data.group={group}: {len(without)} of {len(files)} images have no group: {_some(without)}",
            f"an image needs {wants}",
        )
    return named


def reject_shared_groups(train: Sequence[ImageFile], test: Sequence[ImageFile], group: str) -> None:
    shared = sorted({file.group or "" for file in train} & {file.group or "" for file in test})
    if shared:
        raise DataError(
            f"data.group={group}: {len(shared)} groups are in train/ and in test/: {_some(shared)}",
            "move each to one of the two, or the test says too much",
        )


def _parent_folder(file: ImageFile, root: Path) -> str | None:
    """A folder name is unique within a site; one patient may have images of several classes."""
    if file.path.parent == file.folder:
        return None
    return file.path.parent.name if file.site is None else f"{file.site}/{file.path.parent.name}"


def _matched(pattern: re.Pattern[str]) -> Callable[[ImageFile, Path], str | None]:
    """The first group of the expression, or the whole match if it has no group."""

    def name(file: ImageFile, root: Path) -> str | None:
        match = pattern.search(file.path.relative_to(root).as_posix())
        return match and "/".join(part for part in match.groups() or (match[0],) if part)

    return name


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def subfolders(root: Path) -> list[Path]:
    """Visible folders by name. A link to a folder above itself is a loop and is not followed."""
    above = {root.resolve(), *root.resolve().parents}
    return [path for path in _entries(root) if path.is_dir() and path.resolve() not in above]


def _below(folder: Path) -> list[Path]:
    return [path for inner in subfolders(folder) for path in _entries(inner)]


def _entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.is_dir()


def images_below(folder: Path, ignored: Counter[str]) -> list[Path]:
    """All images in a folder, at any depth, by name."""
    images: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=_fail):  # does not follow links
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [Path(place, name) for name in names if not name.startswith(".")]
        images += filter(_is_image, paths)
        ignored.update(_ending(path) for path in paths if not _is_image(path))
    return sorted(images)


def _ending(path: Path) -> str:
    return path.suffix.lower() or NO_ENDING


def _fail(error: OSError) -> None:
    raise error  # os.walk would leave out what it may not list


@contextmanager
def reading_progress(emit: Emit) -> Iterator[None]:
    """Within the block, `emit` gets an event if reading takes more than two seconds, and then every five seconds."""
    token = _LISTENER.set(emit)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def with_progress(files: Sequence[T]) -> Iterator[T]:
    """Iterate over the files and report progress."""
    emit, next_word = _LISTENER.get(), monotonic() + PATIENCE
    for done, file in enumerate(files):
        if monotonic() >= next_word:
            emit(ImagesRead(done, len(files)))
            next_word = monotonic() + EVERY
        yield file
