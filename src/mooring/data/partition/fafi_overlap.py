"""The overlapping split behind published one-shot numbers; kept to compare with them, not to be used for new ones."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mooring.bounds import Checked
from mooring.data.partition.base import Ints, PartitionWarning, Population, log_dirichlet, normalise, require_images
from mooring.errors import PartitionError
from mooring.types import Count, Positive, Seed

SCALE = 10  # fixed in the released code, whatever K is


@dataclass(frozen=True)
class FafiOverlap(Checked):
    """Legacy. Every client draws its images of a class anew, from a Dirichlet share of ten times the class.

    p_c ~ Dirichlet_K(alpha),   n_kc = min(n_c, round(10 n_0 p_ck))

    n_0 is the size of the first class, whatever c. Not a partition: for K = 5 and alpha .05 to .5 the clients together
    hold on average 1.6 to 3.5 times the data set; an image may be at every client or, when K > 10, at none.
    Source: the code released with FAFI (Zeng et al. 2025). Deviation: the rule is theirs, the random stream is not.
    """

    kind: ClassVar[str] = "fafi_overlap"
    clients: Count = 5
    alpha: Positive = 0.05
    seed: Seed | None = None

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
