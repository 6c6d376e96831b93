"""Partitions without a Dirichlet draw: no skew, the natural sites, and a few classes per client."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from mooring.data._partition.base import (
    ClientCount,
    Ints,
    PlannedPartition,
    Population,
    SplitSeed,
    indices_by_client,
    require_images,
    whole_groups,
)
from mooring.errors import PartitionError
from mooring.schema import Checked, Count, Doc


@dataclass(frozen=True)
class Pathological(PlannedPartition):
    """Every client holds exactly n classes; each class is cut into shards, one for each of its clients.

    sum_c m_c = K n,   1 <= m_c <= min(K, n_c),   shard sizes of a class differ by at most 1

    When K n is not a multiple of the number of classes, the shards too many go to the classes whose shards are the
    largest (in a balanced set: to classes drawn at random), which keeps shards as equal as possible.
    Source: McMahan et al. 2017. Deviation: their equal shards of the sorted images may straddle two classes and give a
    client more or fewer than n; here n holds exactly and shards of different classes may differ in size.
    """

    kind: ClassVar[str] = "pathological"
    clients: ClientCount = 5
    classes_per_client: Annotated[Count, Doc("exact number of classes of every client")] = 2
    seed: SplitSeed = None

    def plan(self, population: Population, rng: np.random.Generator) -> Ints:
        require_images(self.clients, population)
        counts = population.label_counts()
        shards = self._shards(counts, rng)  # m_c
        plan = np.zeros((self.clients, population.classes), dtype=np.int64)
        left = shards.copy()
        for k in rng.permutation(self.clients):
            # Taking the classes with the most shards left never runs into a dead end (Gale 1957, Ryser 1957).
            chosen = np.argsort(-(left + rng.random(len(left))))[: self.classes_per_client]
            plan[k, chosen] = 1
            left[chosen] -= 1
        for c in np.flatnonzero(counts):
            holders = rng.permutation(np.flatnonzero(plan[:, c]))
            plan[holders, c] = counts[c] // shards[c] + (np.arange(shards[c]) < counts[c] % shards[c])
        return plan

    def _shards(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """m_c, (C,): one shard for each class, then the next one always to the class with the largest shards."""
        wanted, present = self.clients * self.classes_per_client, int((counts > 0).sum())
        most = np.minimum(counts, self.clients)
        asked = f"{self.clients} clients x classes_per_client = {self.classes_per_client}"
        if self.classes_per_client > present:
            raise PartitionError(f"{asked}: only {present} classes have images", f"use at most {present}")
        if wanted < present:
            raise PartitionError(
                f"{asked}: {wanted} shards cannot hold {present} classes",
                f"use classes_per_client >= {-(-present // self.clients)} or more clients",
            )
        if wanted > most.sum():
            raise PartitionError(
                f"{asked}: {wanted} shards, but the classes have images for {most.sum()} only",
                "use fewer clients, fewer classes per client or more images",
            )
        cuts = np.arange(1, self.clients)  # a class with j shards has shards of n_c / j images
        sizes = np.where(cuts < most[:, None], counts[:, None] / cuts, 0.0)  # (C, K - 1)
        order = np.lexsort((rng.random(sizes.shape).ravel(), -sizes.ravel()))
        extra = np.unravel_index(order[: wanted - present], sizes.shape)[0]
        return np.bincount(extra, minlength=len(counts)) + np.sign(counts)


@dataclass(frozen=True)
class Iid(Checked):
    """Shuffle, then cut into K parts whose sizes differ by at most 1 (McMahan et al. 2017)."""

    kind: ClassVar[str] = "iid"
    clients: ClientCount = 5
    seed: SplitSeed = None

    def split(self, population: Population, rng: np.random.Generator) -> list[Ints]:
        def cut(units: Population) -> list[Ints]:
            require_images(self.clients, units)
            return [np.sort(part) for part in np.array_split(rng.permutation(len(units)), self.clients)]

        return whole_groups(population, cut)


@dataclass(frozen=True)
class Sites(Checked):
    """One client per site, in the alphabetical order of the sites' names; nothing is random, `seed` changes nothing."""

    kind: ClassVar[str] = "sites"
    seed: SplitSeed = None

    def split(self, population: Population, rng: np.random.Generator) -> list[Ints]:
        if not population.sites:
            raise PartitionError(
                "this source does not say which site an image belongs to",
                "use the image_folder source with one folder per site above the class folders, or another partitioner",
            )
        names, owners = np.unique(np.array(population.sites), return_inverse=True)
        return indices_by_client(owners.astype(np.int64), len(names))
