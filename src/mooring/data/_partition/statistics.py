"""A partition, and what can be said of it: how skewed, how uneven, how overlapping it really is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

import numpy as np

from mooring.data._partition.base import Floats, Ints, Population
from mooring.types import PartitionSummary


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
