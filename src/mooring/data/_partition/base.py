"""What all partitions share: the population that is divided, and groups of images that stay together."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from mooring.errors import PartitionError

Stratum = TypeVar("Stratum", bound=Hashable)  # what a share is taken of: a class, or a class at a site
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class PartitionWarning(UserWarning):
    """A partition that is allowed, but not recommended."""


@dataclass(frozen=True, eq=False)
class Population:
    """All that a partitioner knows about the training images: their labels, sites and groups."""

    labels: Ints = field(repr=False)  # (N,)
    classes: int
    sites: tuple[str, ...] | None = field(default=None, repr=False)  # one per image
    groups: tuple[str, ...] | None = field(default=None, repr=False)  # one per image
    unit: str = "images"  # what is divided

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
            f"more clients than {population.unit}: clients = {clients}, {population.unit} = {len(population)}",
            f"use at most {len(population)} clients or more {population.unit}"
            if len(population)
            else f"use a source with {population.unit}",
        )


def whole_groups(population: Population, split: Callable[[Population], list[Ints]]) -> list[Ints]:
    """Divide groups instead of images. A group has the label of most of its images, and its images stay together.

    Without groups, images are divided.
    """
    if population.groups is None:
        return split(population)
    names, group = np.unique(np.array(population.groups), return_inverse=True)
    counts = np.zeros((len(names), population.classes), dtype=np.int64)
    np.add.at(counts, (group, population.labels), 1)
    units = Population(counts.argmax(axis=1).astype(np.int64), population.classes, unit="groups")
    parts = split(units)
    owners = np.empty(len(names), dtype=np.int64)
    for client, own in enumerate(parts):
        owners[own] = client
    return indices_by_client(owners[group], len(parts))


def indices_by_client(owners: Ints, clients: int) -> list[Ints]:
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
    return indices_by_client(owners, clients)


def log_dirichlet(alpha: float, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Rows of unnormalised log-proportions of Dirichlet(alpha, ..., alpha), finite for every alpha > 0.

    log G(alpha) = log G(alpha + 1) - E / alpha

    G is a gamma and E an exponential draw (Marsaglia & Tsang 2000, section 6). Gammas themselves underflow to 0 below
    alpha of about 1e-3, and a row of zeros has no proportions.
    """
    alpha = min(max(alpha, 1e-300), 1e300)  # so that neither E / alpha nor alpha itself overflows
    gammas = np.log(rng.standard_gamma(alpha + 1, shape))
    return np.asarray(gammas - rng.standard_exponential(shape) / alpha, dtype=np.float64)


def normalise(logs: Floats) -> Floats:
    """p = exp(l) / sum exp(l) along each row; -inf means never."""
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=np.float64)


def apportion(proportions: Floats, totals: Ints) -> Ints:
    """Whole numbers with row sums `totals`, each less than 1 from its quota p * n: largest remainders (Hamilton)."""
    quotas = proportions * totals[:, None]
    whole = np.floor(quotas).astype(np.int64)
    left = totals - whole.sum(axis=1)
    rank = np.argsort(np.argsort(whole - quotas, axis=1, kind="stable"), axis=1)
    return np.asarray(whole + (rank < left[:, None]), dtype=np.int64)


def take_groups(groups: Sequence[Mapping[Stratum, int]], wanted: Mapping[Stratum, int]) -> list[int]:
    """Choose groups of images, such as those of one patient, and return their positions. No group is split.

    Two images of one patient are alike for reasons that have nothing to do with the disease. A model that was trained
    on one of them recognises the other, so a test on it overestimates the accuracy on new patients.

    `groups` has the number of images of each stratum in each group. Groups are taken one after the other if they
    reduce sum_s |taken_s - wanted_s|. A stratum that still has none of its images then gets its smallest group.
    Some images of every stratum are left. Groups of one image are taken exactly as wanted: the first of each stratum.
    """
    total: Counter[Stratum] = Counter()
    for group in groups:
        total.update(group)
    taken: Counter[Stratum] = Counter()
    chosen: set[int] = set()

    def leaves(group: Mapping[Stratum, int]) -> bool:
        return all(taken[stratum] + count < total[stratum] for stratum, count in group.items())

    def change(group: Mapping[Stratum, int]) -> int:
        distances = ((taken[stratum] - wanted[stratum], count) for stratum, count in group.items())
        return sum(abs(distance + count) - abs(distance) for distance, count in distances)

    def take(position: int) -> None:
        chosen.add(position)
        taken.update(groups[position])

    for position, group in enumerate(groups):
        if change(group) < 0 and leaves(group):
            take(position)
    for stratum in (stratum for stratum, count in wanted.items() if count):
        if not taken[stratum]:
            left = [p for p, group in enumerate(groups) if p not in chosen and stratum in group and leaves(group)]
            if left:
                take(min(left, key=lambda position: sum(groups[position].values())))
    return sorted(chosen)
