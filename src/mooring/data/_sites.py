"""A holder of data: the only one who opens it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch

from mooring.data._images import ImageSet


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
