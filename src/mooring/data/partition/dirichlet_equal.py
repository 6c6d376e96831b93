"""Label skew, client by client: clients differ in labels, not in size."""

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
from mooring.types import Count, Positive, Seed


@dataclass(frozen=True)
class DirichletEqual(Checked):
    """Each client of N/K images fills itself in its own Dirichlet proportions, from what is left of each class.

    q_k ~ Dirichlet_C(alpha),   |n_kc - q_kc N/K| < 1 while classes last, then q_k renormalised over those left

    Source: Hsu et al. 2019. Deviation: their prior is the class frequencies, here all classes are alike; counts are
    apportioned, not sampled; nothing is left over, so the clients served last (the order is random) take what remains
    whatever they drew.
    """

    kind: ClassVar[str] = "dirichlet_equal"
    clients: Count = 5
    alpha: Positive = 0.05
    seed: Seed | None = None

    def split(self, population: Population, rng: np.random.Generator) -> list[Ints]:
        return whole_groups(population, lambda units: deal(self.plan(units, rng), units, rng))

    def plan(self, population: Population, rng: np.random.Generator) -> Ints:
        """n_kc, (K, C)."""
        require_images(self.clients, population)
        logs = log_dirichlet(self.alpha, (self.clients, population.classes), rng)
        sizes = len(population) // self.clients + (np.arange(self.clients) < len(population) % self.clients)
        pool = population.label_counts()
        plan = np.zeros((self.clients, population.classes), dtype=np.int64)
        for k in rng.permutation(self.clients):
            for _ in range(population.classes):  # every pass fills the client or empties a class
                missing = sizes[k] - plan[k].sum()
                if missing == 0:
                    break
                proportions = normalise(np.where(pool > 0, logs[k], -np.inf))
                taken = np.minimum(apportion(proportions[None], np.array([missing]))[0], pool)
                plan[k] += taken
                pool -= taken
        return plan
