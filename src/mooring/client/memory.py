"""A client's own past features, first in, first out."""

import torch
from torch import Tensor

from mooring.client.device import CPU, Device
from mooring.types import FeatureBank


class Memory:
    """A ring of `size` unit features with their labels; it lasts for the whole training."""

    def __init__(self, size: int, dimension: int, device: Device = CPU) -> None:
        self.features = device.take(torch.zeros(size, dimension))
        self.labels = device.take(torch.zeros(size, dtype=torch.int64))
        self.written = 0

    def bank(self) -> FeatureBank:
        filled = min(self.written, len(self.features))
        return FeatureBank(self.features[:filled], self.labels[:filled])

    def remember(self, features: Tensor, labels: Tensor) -> None:
        """The newest features take the place of the oldest."""
        size = len(self.features)
        features, labels = features.detach()[-size:], labels[-size:]
        places = (self.written + torch.arange(len(features), device=labels.device)) % size
        self.features[places] = features
        self.labels[places] = labels
        self.written += len(features)
