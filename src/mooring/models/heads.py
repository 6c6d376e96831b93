"""From features to class scores through one prototype per class."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from mooring.models.backbones import initialise
from mooring.types import Positive


class PrototypeHead(nn.Module, ABC):
    """Prototypes (C, d), an embedding f -> (B, d), and logits; every kind below is this."""

    prototypes: nn.Parameter
    embedding: nn.Module

    def embed(self, features: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(features)
        return embedded

    @abstractmethod
    def logits(self, embedding: Tensor, unit: Tensor) -> Tensor:
        """f, (B, d), and f/|f| -> (B, C)."""

    def moor(self, anchors: Tensor) -> None:
        """Told where the anchors are before training; a head may start there."""


class Head(Protocol):
    """A frozen description of a head."""

    kind: ClassVar[str]

    def build(self, features: int, classes: int, rng: Generator) -> PrototypeHead: ...


class RawPrototypeHead(PrototypeHead):
    """logits = z P^T with free prototypes, P ~ N(0, 1): their norm, about sqrt d, acts as the temperature."""

    def __init__(self, features: int, classes: int, rng: Generator) -> None:
        super().__init__()
        self.embedding = nn.Identity()
        self.prototypes = nn.Parameter(torch.randn(classes, features, generator=rng))

    def logits(self, embedding: Tensor, unit: Tensor) -> Tensor:
        return unit @ self.prototypes.T


class UnitPrototypeHead(PrototypeHead):
    """logits = s z (P/|P|)^T: directions and temperature are two things; prototypes start at the anchors."""

    def __init__(self, features: int, classes: int, scale: float, rng: Generator) -> None:
        super().__init__()
        with torch.device("meta"):
            embedding = nn.Linear(features, features)
        self.embedding = embedding.to_empty(device="cpu")
        initialise(self.embedding, rng)
        self.prototypes = nn.Parameter(F.normalize(torch.randn(classes, features, generator=rng)))
        self.scale = scale

    def logits(self, embedding: Tensor, unit: Tensor) -> Tensor:
        return self.scale * unit @ F.normalize(self.prototypes).T

    def moor(self, anchors: Tensor) -> None:
        with torch.no_grad():
            self.prototypes.copy_(anchors)


@dataclass(frozen=True)
class RawPrototypes:
    """As published: features after the ReLU, free prototypes."""

    kind: ClassVar[str] = "raw-prototypes"

    def build(self, features: int, classes: int, rng: Generator) -> PrototypeHead:
        return RawPrototypeHead(features, classes, rng)


@dataclass(frozen=True)
class UnitPrototypes:
    """Sound: a linear embedding (a ReLU feature cannot reach a simplex), unit prototypes, an explicit scale."""

    kind: ClassVar[str] = "unit-prototypes"
    scale: Positive = 16.0

    def build(self, features: int, classes: int, rng: Generator) -> PrototypeHead:
        return UnitPrototypeHead(features, classes, self.scale, rng)


HEADS: dict[str, type[Head]] = {"raw-prototypes": RawPrototypes, "unit-prototypes": UnitPrototypes}
