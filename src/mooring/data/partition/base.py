"""What a partitioner sees, what it promises, and how a plan of label counts becomes clients."""

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from mooring.errors import PartitionError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class PartitionWarning(UserWarning):
    """A partition that is allowed, and that should not be mistaken for a sound one."""


@dataclass(frozen=True, eq=False)
class Population:
    """All that a partitioner may know of the training images: their labels and, if there are any, their owners."""

    labels: Ints = field(repr=False)  # (N,)
    classes: int
    sites: tuple[str, ...] | None = field(default=None, repr=False)  # one per image

    def __len__(self) -> int:
        return len(self.labels)

    def label_counts(self) -> Ints:
        """n_c, the images of each class, (C,)."""
        return np.bincount(self.labels, minlength=self.classes).astype(np.int64)


class Partitioner(Protocol):
    """A way to divide images among clients, as a value; `seed` None means the experiment's seed."""

    kind: ClassVar[str]

    @property
    def seed(self) -> int | None: ...

    def split(self, population: Population, rng: np.random.Generator) -> list[Ints]:
        """The sorted indices of each client's images."""


def require_images(clients: int, population: Population) -> None:
    """K <= N: a client may be drawn empty, but not every one of K clients can ever hold an image when K > N."""
    if clients > len(population):
        raise PartitionError(
            f"more clients than images: clients = {clients}, images = {len(population)}",
            f"use at most {len(population)} clients or more images" if len(population) else "use a source with images",
        )


def gather(owners: Ints, clients: int) -> list[Ints]:
    """The sorted indices of each client, given the owner (N,) of each image."""
    order = np.argsort(owners, kind="stable").astype(np.int64)
    return np.split(order, np.cumsum(np.bincount(owners, minlength=clients))[:-1])


def deal(plan: Ints, population: Population, rng: np.random.Generator) -> list[Ints]:
    """Give client k exactly plan[k, c] images of class c, which ones at random; columns of plan (K, C) sum to n_c."""
    clients, classes = plan.shape
    owners = np.empty(len(population), dtype=np.int64)
    for c in range(classes):
        images = np.flatnonzero(population.labels == c)
        owners[rng.permutation(images)] = np.repeat(np.arange(clients), plan[:, c])
    return gather(owners, clients)
