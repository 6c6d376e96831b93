"""Files that show the same picture: they form one group, and a group trains or tests as a whole."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import torch

from mooring.data._image_tree import ImageFile, with_progress
from mooring.data._pixels import decode_image, require_decoders
from mooring.data._similarity import SIDE, Copy, joined, near_copies


def group_copies(files: Sequence[ImageFile], root: Path) -> list[ImageFile]:
    """Every file with its group: near-copies are in one, and so are files that had one group before.

    The group has the name of its first file, so that files without copies are divided as they would be by name.
    """
    labels = [file.label for file in files]
    state = tuple((file.path, file.path.stat().st_mtime_ns) for file in files)
    pairs = [(copy.image, copy.of) for copy in copies_among(state, tuple(labels))]
    first: dict[str, int] = {}
    for position, file in enumerate(files):
        if file.group is not None:
            pairs.append((position, first.setdefault(file.group, position)))
    names = [file.path.relative_to(root).as_posix() for file in files]
    return [replace(file, group=names[own]) for file, own in zip(files, joined(len(files), pairs), strict=True)]


@lru_cache(maxsize=1)  # a run asks twice: for its training images and for its test images
def copies_among(state: tuple[tuple[Path, int], ...], labels: tuple[str, ...]) -> list[Copy]:
    """Near-copies among files, by position; `state` has every file and when it was changed."""
    paths = [path for path, _ in state]
    require_decoders(paths)
    images = torch.zeros(len(paths), 3, SIDE, SIDE, dtype=torch.uint8)
    for position, path in enumerate(with_progress(paths)):
        try:
            images[position] = torch.from_numpy(decode_image(path, SIDE, 3).copy())
        except Exception:  # a broken file makes a decoder raise almost anything; it is reported when it is read
            continue
    numbers = {label: number for number, label in enumerate(sorted(set(labels)))}
    return near_copies(images.split(1024), torch.tensor([numbers[label] for label in labels]))
