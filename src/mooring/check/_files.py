"""What one file is: its format, its pixels in short, and what is unusual about it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import torch
from torch import Tensor

from mooring.data import (
    COPY_SIDE,
    ImageFile,
    PictureFacts,
    decode_image,
    picture_facts,
    require_decoders,
    with_progress,
)
from mooring.errors import MooringError

BROKEN = "cannot be read as an image"


@dataclass(frozen=True)
class CheckedFile:
    """One image file, as it was found."""

    name: str  # its path below the folder, with /
    path: Path
    label: str
    folder: str  # the name of its class folder
    site: str
    held_out: bool
    sha256: str
    facts: PictureFacts | None = None  # None: it cannot be read
    problem: str = ""
    pixels: Tensor = field(default_factory=lambda: torch.zeros(3, COPY_SIDE, COPY_SIDE, dtype=torch.uint8), repr=False)

    @property
    def readable(self) -> bool:
        return self.facts is not None

    @property
    def constant(self) -> bool:
        """Of a single colour, grey or not."""
        span = self.pixels.amax((1, 2)).int() - self.pixels.amin((1, 2)).int()
        return self.readable and int(span.amax()) <= 1


def look_at(files: Iterable[tuple[ImageFile, bool]], root: Path) -> Iterator[CheckedFile]:
    """Every file, opened once; `True` beside a file: it is held out for testing."""
    listed = list(files)
    require_decoders(file.path for file, _ in listed)
    for file, held_out in with_progress(listed):
        name, site = file.path.relative_to(root).as_posix(), file.site or ""
        known = (name, file.path, file.label, file.folder.name, site, held_out)
        digest = ""
        try:
            digest = sha256(file.path.read_bytes()).hexdigest()
            facts = picture_facts(file.path)
            pixels = torch.from_numpy(decode_image(file.path, COPY_SIDE, 3).copy())
        except MooringError as error:  # too large, or of values that may mean anything
            yield CheckedFile(*known, digest, problem=error.problem.removeprefix(f"{file.path} "))
        except Exception:  # a broken file makes a decoder raise almost anything
            yield CheckedFile(*known, digest, problem=BROKEN)
        else:
            yield CheckedFile(*known, digest, facts, pixels=pixels)
