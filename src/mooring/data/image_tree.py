"""How image files lie in folders: which file is of which class, at which site, for training or for testing."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from mooring.data.pixels import SUFFIXES
from mooring.errors import DataError

Layout = Literal["split", "tree", "sites"]
WANTED = "a folder with train/<class>/* and test/<class>/*, or <class>/*, or <site>/<class>/*"


@dataclass(frozen=True)
class ImageFile:
    """An image file and what its folders say of it."""

    path: Path
    label: str
    site: str | None = None


def recognise(root: Path) -> Layout:
    """The layout that the folders show: `split` by their names, else by how deep the first images lie."""
    tops = subfolders(root)
    named = {folder.name for folder in tops} & {"train", "test"}
    if len(named) == 1:
        missing = ({"train", "test"} - named).pop()
        raise DataError(f"{root} has {named.pop()}/ but no {missing}/", f"add {missing}/, or set data.layout")
    if named:
        return "split"
    if any(_is_image(path) for folder in tops for path in _entries(folder)):
        return "tree"
    if any(_is_image(path) for top in tops for folder in subfolders(top) for path in _entries(folder)):
        return "sites"
    raise DataError(f"{root} holds no images ({', '.join(SUFFIXES)})", f"set data.root to {WANTED}")


def list_classes(root: Path, site: str | None = None) -> list[ImageFile]:
    """All images under root/<class>, at any depth; a class without images is a mistake, not a class."""
    folders = subfolders(root)
    if not folders:
        raise DataError(f"{root} has no class folders", "put each class's images into a folder of its own")
    files: list[ImageFile] = []
    for folder in folders:
        paths = _images_below(folder)
        if not paths:
            raise DataError(f"class folder {folder} holds no images ({', '.join(SUFFIXES)})", "fill or remove it")
        files += [ImageFile(path, folder.name, site) for path in paths]
    return files


def divide(files: list[ImageFile], root: Path, held_out: float) -> tuple[list[ImageFile], list[ImageFile]]:
    """Training and test files: of every site and class, the `held_out` share whose path has the smallest hash.

    The choice depends on names alone, so it is the same on every machine and under every seed, and one more file
    moves few others. At least one file trains, and at least one tests if there are two.
    """
    groups: dict[tuple[str | None, str], list[ImageFile]] = {}
    for file in files:
        groups.setdefault((file.site, file.label), []).append(file)
    tested: set[ImageFile] = set()
    for group in groups.values():
        ranked = sorted(group, key=lambda file: sha256(file.path.relative_to(root).as_posix().encode()).digest())
        count = min(max(round(held_out * len(group)), 1), len(group) - 1)
        tested.update(ranked[:count])
    return [file for file in files if file not in tested], [file for file in files if file in tested]


def subfolders(root: Path) -> list[Path]:
    """Visible folders by name; a link back to a folder above itself is a loop, and not followed."""
    above = {root.resolve(), *root.resolve().parents}
    return [path for path in _entries(root) if path.is_dir() and path.resolve() not in above]


def _entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.is_dir()


def _images_below(folder: Path) -> list[Path]:
    paths: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=_fail):  # does not follow links
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place, name) for name in names if not name.startswith(".") and _is_image(Path(place, name))]
    return sorted(paths)


def _fail(error: OSError) -> None:
    raise error  # os.walk would leave out what it may not list
