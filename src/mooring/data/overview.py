"""What a public data set on disk amounts to, told without decoding its images where the format allows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Overview:
    """Counts and files of a data set that was found."""

    train: int
    test: int
    classes: int
    shape: tuple[int, int, int]
    files: tuple[Path, ...] = ()


class Surveyable(Protocol):
    """A source that knows its official files, and so can say what is there; it raises `DataError` if they are not."""

    def overview(self) -> Overview: ...
