"""Partitions with Dirichlet label skew: by class, by client, and the overlapping one of published results."""

import warnings
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from mooring.data._partition.base import (
    ClientCount,
    Floats,
    Ints,
    LabelSkew,
    PartitionWarning,
    PlannedPartition,
    Population,
    SplitSeed,
    apportion,
    log_dirichlet,
    normalise,
    require_images,
)
from mooring.errors import PartitionError
from mooring.schema import Checked, Doc, NonNegativeInt, Positive

SCALE = 10  # fixed in the released code, whatever K is


@dataclass(frozen=True)
class Dirichlet(PlannedPartition):
    """Each class is divided among the clients in Dirichlet proportions.

    p_c ~ Dirichlet_K(alpha),   |n_kc - p_ck n_c| < 1,   sum_k n_kc = n_c

    Source: Yurochkin et al. 2019, Li et al. 2022 (NIID-Bench). Deviation: those close a client that holds N/K images
    and redraw until every client has ten, which may never end; here p_c is used as drawn, clients may be empty, and
    `min_size` is reached by moving images from the largest clients to the smallest (the bound above is then left).
    """

    kind: ClassVar[str] = "dirichlet"
    clients: ClientCount = 5
    alpha: LabelSkew = 0.05
    min_size: Annotated[NonNegativeInt, Doc("fewest images of a client; images are moved from the largest clients")] = 0
    seed: SplitSeed = None

    def plan(self, population: Population, rng: np.random.Generator) -> Ints:
        require_images(self.clients, population)
        if self.min_size * self.clients > len(population):
            raise PartitionError(
                f"min_size = {self.min_size} for {self.clients} clients needs {self.min_size * self.clients} images, "
                f"there are {len(population)}",
                f"use min_size <= {len(population) // self.clients} or fewer clients",
            )
        proportions = normalise(log_dirichlet(self.alpha, (population.classes, self.clients), rng))
        return fill(apportion(proportions, population.label_counts()).T.copy(), self.min_size)


def fill(plan: Ints, min_size: int) -> Ints:
    """Raise every client to min_size: one image at a time, of the most frequent class of the largest client.

    The number of moves is the number of missing images. While one is missing the largest client is above min_size,
    because min_size K <= N; so no move makes a new client too small.
    """
    sizes = plan.sum(axis=1)
    for _ in range(int(np.maximum(min_size - sizes, 0).sum())):
        giver, taker = sizes.argmax(), sizes.argmin()
        label = plan[giver].argmax()
        plan[giver, label] -= 1
        plan[taker, label] += 1
        sizes[giver] -= 1
        sizes[taker] += 1
    return plan


@dataclass(frozen=True)
class DirichletEqual(PlannedPartition):
    """Each client of N/K images fills itself in its own Dirichlet proportions, from what is left of each class.

    q_k ~ Dirichlet_C(alpha),   |n_kc - q_kc N/K| < 1 while classes last, then q_k renormalised over those left

    Source: Hsu et al. 2019. Deviation: their prior is the class frequencies, here all classes are alike; counts are
    apportioned, not sampled; nothing is left over, so the clients served last (the order is random) take what remains
    whatever they drew.
    """

    kind: ClassVar[str] = "dirichlet_equal"
    clients: ClientCount = 5
    alpha: LabelSkew = 0.05
    seed: SplitSeed = None

    def plan(self, population: Population, rng: np.random.Generator) -> Ints:
        require_images(self.clients, population)
        logs = log_dirichlet(self.alpha, (self.clients, population.classes), rng)
        sizes = len(population) // self.clients + (np.arange(self.clients) < len(population) % self.clients)
        return served(logs, sizes, population, rng)


def served(logs: Floats, sizes: Ints, population: Population, rng: np.random.Generator) -> Ints:
    """n_kc, (K, C): one client after the other, in random order, takes its size in its proportions of what is left."""
    pool = population.label_counts()
    plan = np.zeros(logs.shape, dtype=np.int64)
    for k in rng.permutation(len(sizes)):
        for _ in range(population.classes):  # every pass fills the client or empties a class
            missing = sizes[k] - plan[k].sum()
            if missing == 0:
                break
            proportions = normalise(np.where(pool > 0, logs[k], -np.inf))
            taken = np.minimum(apportion(proportions[None], np.array([missing]))[0], pool)
            plan[k] += taken
            pool -= taken
    return plan


@dataclass(frozen=True)
class DirichletSizes(PlannedPartition):
    """Label and quantity skew: clients have Dirichlet shares of the images, and Dirichlet proportions of the classes.

    n_k = s_k N,  s ~ Dirichlet_K(size_alpha),   q_k ~ Dirichlet_C(alpha),   |n_kc - q_kc n_k| < 1 while classes last

    Source: the two skews of Li et al. 2022 (NIID-Bench), which they draw one at a time. Deviation: both at once;
    as in `dirichlet_equal`, the clients served last take what is left.
    """

    kind: ClassVar[str] = "dirichlet_sizes"
    clients: ClientCount = 5
    alpha: LabelSkew = 0.05
    size_alpha: Annotated[Positive, Doc("Dirichlet parameter of the sizes; smaller: more uneven")] = 1.0
    seed: SplitSeed = None

    def plan(self, population: Population, rng: np.random.Generator) -> Ints:
        require_images(self.clients, population)
        logs = log_dirichlet(self.alpha, (self.clients, population.classes), rng)
        shares = normalise(log_dirichlet(self.size_alpha, (1, self.clients), rng))
        return served(logs, apportion(shares, np.array([len(population)]))[0], population, rng)


@dataclass(frozen=True)
class FafiOverlap(Checked):
    """Legacy. Every client draws its images of a class anew, from a Dirichlet share of ten times the class.

    p_c ~ Dirichlet_K(alpha),   n_kc = min(n_c, round(10 n_0 p_ck))

    n_0 is the size of the first class, whatever c. Not a partition: for K = 5 and alpha .05 to .5 the clients together
    hold on average 1.6 to 3.5 times the data set; an image may be at every client or, when K > 10, at none.
    Source: the code released with FAFI (Zeng et al. 2025). Deviation: the rule is theirs, the random stream is not.
    """

    kind: ClassVar[str] = "fafi_overlap"
    clients: ClientCount = 5
    alpha: LabelSkew = 0.05
    seed: SplitSeed = None

    def split(self, population: Population, rng: np.random.Generator) -> list[Ints]:
        require_images(self.clients, population)
        counts = population.label_counts()
        if counts[0] == 0:
            raise PartitionError(
                "fafi_overlap measures every class by class 0, which has no images", "use the dirichlet partitioner"
            )
        warnings.warn(
            "fafi_overlap gives the same image to several clients; use dirichlet for an exact partition",
            PartitionWarning,
            stacklevel=2,
        )
        proportions = normalise(log_dirichlet(self.alpha, (population.classes, self.clients), rng))
        taken = np.minimum(np.rint(SCALE * counts[0] * proportions).astype(np.int64), counts[:, None])  # (C, K)
        images = [np.flatnonzero(population.labels == c) for c in range(population.classes)]
        return [
            np.sort(np.concatenate([rng.permutation(images[c])[:n] for c, n in enumerate(taken[:, k])]))
            for k in range(self.clients)
        ]
