"""What all partitions share: the population that is divided, groups of images that stay together, and statistics of the
result: how skewed, uneven and overlapping it is."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Annotated, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from mooring.errors import PartitionError
from mooring.schema import Checked, Count, Doc, Positive, Seed
from mooring.types import PartitionSummary

Stratum = TypeVar("Stratum", bound=Hashable)  # what a share is taken of: a class, or a class at a site
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ClientCount = Annotated[Count, Doc("how many clients")]
LabelSkew = Annotated[Positive, Doc("Dirichlet parameter; smaller: fewer labels per client")]
SplitSeed = Annotated[Seed | None, Doc("seed of the split; `null`: the experiment's `seed`")]


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


class PlannedPartition(Checked, ABC):
    """A partition that says how many images of each class every client gets; which ones is drawn. Groups stay whole."""

    @abstractmethod
    def plan(self, population: Population, rng: np.random.Generator) -> Ints:
        """n_kc, (K, C)."""

    def split(self, population: Population, rng: np.random.Generator) -> list[Ints]:
        return whole_groups(population, lambda units: deal(self.plan(units, rng), units, rng))


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


def partition_digest(samples: int, indices: Sequence[Ints]) -> str:
    """SHA-256 over N, K and every client's size and sorted indices, as little-endian int64; order of clients counts."""
    content = sha256(np.array([samples, len(indices)], dtype="<i8").tobytes())
    for client in indices:
        content.update(np.array(len(client), dtype="<i8").tobytes())
        content.update(np.sort(client).astype("<i8").tobytes())
    return content.hexdigest()


@dataclass(frozen=True, eq=False)
class Partition:
    """Which images each client holds, and n_kc; "alpha" names different problems, these numbers do not."""

    indices: tuple[Ints, ...] = field(repr=False)  # sorted, one array per client
    counts: Ints  # (K, C)
    samples: int  # N, the size of the population

    @classmethod
    def of(cls, indices: Sequence[Ints], population: Population) -> "Partition":
        counts = [np.bincount(population.labels[client], minlength=population.classes) for client in indices]
        return cls(tuple(indices), np.stack(counts).astype(np.int64), len(population))

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def sizes(self) -> Ints:
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64)

    @property
    def classes_per_client(self) -> Ints:
        return np.asarray((self.counts > 0).sum(axis=1), dtype=np.int64)

    @property
    def entropy(self) -> Floats:
        """H_k = -sum_c p_kc log2 p_kc in bits, p_kc = n_kc / n_k; 0 for an empty client."""
        p = self.counts / np.maximum(self.sizes, 1)[:, None]
        logs = np.log2(p, out=np.zeros_like(p), where=p > 0)
        return np.asarray(np.abs((p * logs).sum(axis=1)), dtype=np.float64)  # every term is <= 0; no -0.0

    @property
    def normalised_entropy(self) -> Floats:
        """H_k / log2 C, in [0, 1]; 0 when there is one class."""
        classes = self.counts.shape[1]
        return self.entropy / np.log2(classes) if classes > 1 else np.zeros(len(self))

    @property
    def size_variation(self) -> float:
        """std(n_k) / mean(n_k); 0 when all clients are of one size."""
        mean = float(self.sizes.mean())
        return float(self.sizes.std()) / mean if mean else 0.0

    @cached_property
    def distinct(self) -> int:
        """How many images are at one client at least."""
        return len(np.unique(np.concatenate(self.indices)))

    @property
    def overlap(self) -> float:
        """sum_k n_k / distinct images; 1 when no image is at two clients."""
        return int(self.sizes.sum()) / self.distinct if self.distinct else 1.0

    @property
    def coverage(self) -> float:
        """Distinct images / N; 1 when every image is at some client."""
        return self.distinct / self.samples if self.samples else 1.0

    @cached_property
    def sha256(self) -> str:
        return partition_digest(self.samples, self.indices)

    def summary(self) -> PartitionSummary:
        """All of it, as plain values."""
        return PartitionSummary(
            samples=self.samples,
            clients=len(self),
            sizes=tuple(self.sizes.tolist()),
            label_counts=tuple(map(tuple, self.counts.tolist())),
            classes_per_client=tuple(self.classes_per_client.tolist()),
            entropy=tuple(self.entropy.tolist()),
            normalised_entropy=tuple(self.normalised_entropy.tolist()),
            size_variation=self.size_variation,
            overlap=self.overlap,
            coverage=self.coverage,
            sha256=self.sha256,
        )
