"""Label skew, class by class: clients differ in labels and in size."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mooring.bounds import Checked
from mooring.data.partition.base import (
    Ints,
    Population,
    apportion,
    deal,
    log_dirichlet,
    normalise,
    require_images,
    whole_groups,
)
from mooring.errors import PartitionError
from mooring.types import Count, NonNegativeInt, Positive, Seed


@dataclass(frozen=True)
class Dirichlet(Checked):
    """Each class is divided among the clients in Dirichlet proportions.

    p_c ~ Dirichlet_K(alpha),   |n_kc - p_ck n_c| < 1,   sum_k n_kc = n_c

    Source: Yurochkin et al. 2019, Li et al. 2022 (NIID-Bench). Deviation: those close a client that holds N/K images
    and redraw until every client has ten, which may never end; here p_c is used as drawn, clients may be empty, and
    `min_size` is reached by moving images from the largest clients to the smallest (the bound above is then left).
    """

    kind: ClassVar[str] = "dirichlet"
    clients: Count = 5
    alpha: Positive = 0.05
    min_size: NonNegativeInt = 0
    seed: Seed | None = None

    def split(self, population: Population, rng: np.random.Generator) -> list[Ints]:
        return whole_groups(population, lambda units: deal(self.plan(units, rng), units, rng))

    def plan(self, population: Population, rng: np.random.Generator) -> Ints:
        """n_kc, (K, C)."""
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
