"""From features to class scores through one prototype per class, and the simplex that prototypes can start from."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import log
from typing import Annotated, ClassVar, Protocol

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from mooring.errors import ModelError
from mooring.models._backbones import initialise, unless_meta
from mooring.schema import Checked, Doc, Positive


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

    def start_at(self, anchors: Tensor) -> None:
        """Receives the anchors before training; a head may start there."""


class Head(Protocol):
    """A frozen description of a head."""

    kind: ClassVar[str]

    def build(self, features: int, classes: int, rng: Generator) -> PrototypeHead: ...


def linear_embedding(features: int, rng: Generator) -> nn.Module:
    """f -> W f + b: a feature after a ReLU cannot reach a simplex, its linear image can."""
    with torch.device("meta"):
        embedding = nn.Linear(features, features)
    embedding = embedding.to_empty(device=torch.empty(0).device)  # the CPU, unless only shapes are asked for
    initialise(embedding, rng)
    return embedding


class RawPrototypeHead(PrototypeHead):
    """logits = z P^T with free prototypes, P ~ N(0, 1): their norm, about sqrt d, acts as the temperature."""

    def __init__(self, features: int, classes: int, rng: Generator) -> None:
        super().__init__()
        self.embedding = nn.Identity()
        self.prototypes = nn.Parameter(
            unless_meta(classes, features, lambda: torch.randn(classes, features, generator=rng))
        )

    def logits(self, embedding: Tensor, unit: Tensor) -> Tensor:
        return unit @ self.prototypes.T


class UnitPrototypeHead(PrototypeHead):
    """logits = s z (P/|P|)^T: directions and temperature are two things; prototypes start at the anchors."""

    def __init__(self, features: int, classes: int, scale: float, rng: Generator) -> None:
        super().__init__()
        self.embedding = linear_embedding(features, rng)
        start = unless_meta(classes, features, lambda: F.normalize(torch.randn(classes, features, generator=rng)))
        self.prototypes = nn.Parameter(start)
        self.scale = scale

    def logits(self, embedding: Tensor, unit: Tensor) -> Tensor:
        return self.scale * unit @ F.normalize(self.prototypes).T

    def start_at(self, anchors: Tensor) -> None:
        with torch.no_grad():
            self.prototypes.copy_(anchors)


class LinearHead(PrototypeHead):
    """logits = f W^T + b, the classifier of most of the field; the rows of W stand where prototypes stand."""

    def __init__(self, features: int, classes: int, rng: Generator) -> None:
        super().__init__()
        self.embedding = nn.Identity()
        bound = features**-0.5
        start = unless_meta(classes, features, lambda: bound * (2 * torch.rand(classes, features, generator=rng) - 1))
        self.prototypes = nn.Parameter(start)
        self.bias = nn.Parameter(torch.zeros(classes))

    def logits(self, embedding: Tensor, unit: Tensor) -> Tensor:
        return F.linear(embedding, self.prototypes, self.bias)


class FixedSimplexHead(PrototypeHead):
    """logits = e^a z A^T: A is a simplex that never learns, the logit scale e^a does."""

    def __init__(self, features: int, classes: int, scale: float, rng: Generator) -> None:
        super().__init__()
        self.embedding = linear_embedding(features, rng)
        simplex = unless_meta(classes, features, lambda: simplex_etf(classes, features, rng))
        self.prototypes = nn.Parameter(simplex, requires_grad=False)
        self.log_scale = nn.Parameter(torch.tensor(log(scale)))

    def logits(self, embedding: Tensor, unit: Tensor) -> Tensor:
        return self.log_scale.exp() * unit @ self.prototypes.T


class SimplexHead(PrototypeHead):
    """logits = z A^T / tau: of the classifier nothing learns."""

    def __init__(self, features: int, classes: int, temperature: float, rng: Generator) -> None:
        super().__init__()
        self.embedding = linear_embedding(features, rng)
        simplex = unless_meta(classes, features, lambda: simplex_etf(classes, features, rng))
        self.prototypes = nn.Parameter(simplex, requires_grad=False)
        self.temperature = temperature

    def logits(self, embedding: Tensor, unit: Tensor) -> Tensor:
        return unit @ self.prototypes.T / self.temperature


@dataclass(frozen=True)
class RawPrototypes:
    """As published: features after the ReLU, free prototypes."""

    kind: ClassVar[str] = "raw-prototypes"

    def build(self, features: int, classes: int, rng: Generator) -> PrototypeHead:
        return RawPrototypeHead(features, classes, rng)


@dataclass(frozen=True)
class UnitPrototypes(Checked):
    """Sound: a linear embedding (a ReLU feature cannot reach a simplex), unit prototypes, an explicit scale."""

    kind: ClassVar[str] = "unit-prototypes"
    scale: Annotated[Positive, Doc("scale of the cosine logits")] = 16.0

    def build(self, features: int, classes: int, rng: Generator) -> PrototypeHead:
        return UnitPrototypeHead(features, classes, self.scale, rng)


@dataclass(frozen=True)
class Linear:
    """Weights and a bias on features that are not normalised."""

    kind: ClassVar[str] = "linear"

    def build(self, features: int, classes: int, rng: Generator) -> PrototypeHead:
        return LinearHead(features, classes, rng)


@dataclass(frozen=True)
class FixedSimplex(Checked):
    """FedETF's classifier: a linear embedding, a simplex that all clients share, a learned logit scale."""

    kind: ClassVar[str] = "fixed-simplex"
    scale: Annotated[Positive, Doc("initial scale of the cosine logits; learned")] = 16.0

    def build(self, features: int, classes: int, rng: Generator) -> PrototypeHead:
        return FixedSimplexHead(features, classes, self.scale, rng)


@dataclass(frozen=True)
class SimplexAtTemperature(Checked):
    """FedSRA's classifier: a linear embedding, a simplex that all clients share, a temperature that never changes."""

    kind: ClassVar[str] = "simplex-at-temperature"
    temperature: Annotated[Positive, Doc("temperature of the cosines; not learned")] = 0.1

    def build(self, features: int, classes: int, rng: Generator) -> PrototypeHead:
        return SimplexHead(features, classes, self.temperature, rng)


HEADS: dict[str, type[Head]] = {
    "fixed-simplex": FixedSimplex,
    "linear": Linear,
    "raw-prototypes": RawPrototypes,
    "simplex-at-temperature": SimplexAtTemperature,
    "unit-prototypes": UnitPrototypes,
}


def simplex_etf(classes: int, dimension: int, rng: Generator) -> Tensor:
    """C unit vectors in R^d with cosine -1/(C-1) between any two, in a random orientation; exists iff d >= C-1.

    The rows of an orthonormal basis V (C x C-1) of the complement of the ones vector form a simplex; Q (C-1 x d) with
    orthonormal rows turns it: A = sqrt(C/(C-1)) V Q.
    """
    if dimension < classes - 1:
        raise ModelError(
            f"a simplex of {classes} anchors needs {classes - 1} feature dimensions, the model has {dimension}",
            "raise model.width or use the anchor random-unit",
        )
    if classes == 1:
        return F.normalize(torch.randn(1, dimension, generator=rng))
    size = classes - 1
    ones = torch.ones(classes, 1, dtype=torch.float64)
    basis = torch.linalg.qr(torch.cat([ones, torch.eye(classes, size, dtype=torch.float64)], 1)).Q[:, 1:]
    turned = torch.linalg.qr(torch.randn(dimension, size, generator=rng, dtype=torch.float64)).Q.T
    simplex: Tensor = (classes / size) ** 0.5 * basis @ turned
    return simplex.float()
