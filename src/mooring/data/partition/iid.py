"""No skew at all."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mooring.bounds import Checked
from mooring.data.partition.base import Ints, Population, require_images, whole_groups
from mooring.types import Count, Seed


@dataclass(frozen=True)
class Iid(Checked):
    """Shuffle, then cut into K parts whose sizes differ by at most 1 (McMahan et al. 2017)."""

    kind: ClassVar[str] = "iid"
    clients: Count = 5
    seed: Seed | None = None

    def split(self, population: Population, rng: np.random.Generator) -> list[Ints]:
        def cut(units: Population) -> list[Ints]:
            require_images(self.clients, units)
            return [np.sort(part) for part in np.array_split(rng.permutation(len(units)), self.clients)]

        return whole_groups(population, cut)
