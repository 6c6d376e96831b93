"""Parts that take one batch of images after the other: what they hold between two batches can be kept and restored."""

from abc import ABC, abstractmethod

from torch import Tensor

from mooring.data import ImageSet, batch_slices
from mooring.models import Network
from mooring.uploads._part import Tensors

FEATURE_BATCH = 256


class Accumulator(ABC):
    """A part of an upload, computed from all batches so far."""

    @abstractmethod
    def features(self, images: Tensor) -> Tensor:
        """The features of a batch: the expensive part, which changes nothing and may be given up."""

    @abstractmethod
    def add(self, features: Tensor, labels: Tensor) -> None:
        """The next batch, after all before it."""

    @abstractmethod
    def state(self) -> Tensors:
        """All that the batches so far have left."""

    @abstractmethod
    def restore(self, state: Tensors) -> None:
        """Go on where another accumulator was, to the bit."""

    @abstractmethod
    def tensors(self) -> Tensors:
        """What is sent after the last batch."""


class StreamedPart(ABC):
    """A part that never needs all images at once."""

    @abstractmethod
    def accumulator(self, network: Network) -> Accumulator: ...

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        found = self.accumulator(network)
        for own in batch_slices(shard.images, FEATURE_BATCH):
            found.add(found.features(shard.images[own]), shard.labels[own])
        return found.tensors()
