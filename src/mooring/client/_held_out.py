"""Images that a client keeps out of its own training, for a weighting that asks how it does on unseen ones."""

from dataclasses import dataclass, field
from math import ceil

import torch
from torch import Tensor

from mooring.client._job import ClientJob
from mooring.data import ImageSet
from mooring.seeds import generator


@dataclass(frozen=True)
class HeldOut:
    """A client's images in two parts: `trained` ones by their position, and those it is only judged by."""

    trained: Tensor = field(repr=False)  # (n - m,)
    images: Tensor = field(repr=False)  # (m, C, H, W)
    labels: Tensor = field(repr=False)  # (m,)

    def batch(self, step: int, size: int) -> tuple[Tensor, Tensor]:
        """The next `size` of them, again and again in the same order."""
        size = min(size, len(self.labels))
        chosen = (step * size + torch.arange(size)) % len(self.labels)
        return self.images[chosen], self.labels[chosen]


def held_out_count(samples: int, share: float) -> int:
    """How many of a client's images it does not train on: at least one if there is a share, and never all of them."""
    return min(ceil(share * samples), max(samples - 1, 0))


def held_out(job: ClientJob, shard: ImageSet, client: int) -> HeldOut | None:
    """A seeded choice of `job.recipe.held_out` of the client's images; None where nothing is kept out."""
    count = held_out_count(len(shard), job.recipe.held_out)
    if not count:
        return None
    order = torch.randperm(len(shard), generator=generator(job.seed, "client", client, "held-out"))
    kept = order[:count].sort().values
    return HeldOut(order[count:].sort().values, shard.images[kept], shard.labels[kept])
