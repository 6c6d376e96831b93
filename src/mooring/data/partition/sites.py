"""The division that nature made."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mooring.bounds import Checked
from mooring.data.partition.base import Ints, Population, indices_by_client
from mooring.errors import PartitionError
from mooring.types import Seed


@dataclass(frozen=True)
class Sites(Checked):
    """One client per site, in the alphabetical order of the sites' names; nothing is random, `seed` changes nothing."""

    kind: ClassVar[str] = "sites"
    seed: Seed | None = None

    def split(self, population: Population, rng: np.random.Generator) -> list[Ints]:
        if not population.sites:
            raise PartitionError(
                "this source does not say which site an image belongs to",
                "use the image_folder source with one folder per site above the class folders, or another partitioner",
            )
        names, owners = np.unique(np.array(population.sites), return_inverse=True)
        return indices_by_client(owners.astype(np.int64), len(names))
