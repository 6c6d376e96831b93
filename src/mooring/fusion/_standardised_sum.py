"""FedSRA's server: every client's embedding on one scale, summed, and the nearest anchor."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server, prototypes_of
from mooring.fusion._ensemble import Ensemble, Members
from mooring.schema import Doc
from mooring.types import Upload
from mooring.uploads import EMBEDDING_MEAN, EMBEDDING_STD, EmbeddingMoments, Encoder, Parts, Prototypes

ScalePopulation = Literal["own-images", "test-batch"]
FLAT = 1e-3  # below this deviation a dimension of unit vectors says nothing, and is not blown up


MODEL: Parts = frozenset({Encoder(), Prototypes()})


class StandardisedSumPredictor(Ensemble):
    kind: ClassVar[str] = "standardised-sum"
    holds: ClassVar[tuple[str, ...]] = ("anchors", "weights", "means", "deviations")
    sides: ClassVar[tuple[int, ...]] = (2, 1, 2, 2)
    anchors: Tensor  # A, (C, d), unit
    weights: Tensor  # (K,), in the ratio of sqrt(n_k)
    means: Tensor  # m, (K, d)
    deviations: Tensor  # s, (K, d)

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        total = torch.zeros(())
        for w, f, m, s in zip(self.weights, embeddings, self.means, self.deviations, strict=True):
            total = total + w * standardised(F.normalize(f), m, s)
        return F.normalize(total) @ self.anchors.T


class StandardisedByBatch(Ensemble):
    kind: ClassVar[str] = "standardised-by-batch"
    holds: ClassVar[tuple[str, ...]] = ("anchors", "weights")
    sides: ClassVar[tuple[int, ...]] = (2, 1)
    anchors: Tensor  # A, (C, d), unit
    weights: Tensor  # (K,)

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        total = torch.zeros(())
        for w, f in zip(self.weights, embeddings, strict=True):
            z = F.normalize(f)
            deviation, mean = torch.std_mean(z, 0, correction=0)
            total = total + w * standardised(z, mean, deviation)
        return F.normalize(total) @ self.anchors.T


@dataclass(frozen=True)
class StandardisedSum(Fusion):
    """score_c(x) = F(x)/|F(x)| . A_c,  F(x) = sum_k sqrt(n_k) (z_k(x) - m_k) / s_k (FedSRA, UpcNlp 2026).

    m_k and s_k are the mean and the deviation of z_k by dimension over client k's own images, uploaded with its model.
    A is the unit mean of the clients' unit prototypes: the simplex itself where it is frozen, so that the rule serves
    learned prototypes too. Deviations: s_k is at least FLAT.

    `moments: test-batch` takes m_k and s_k from the very images that are asked about, without their labels: it needs
    many of them at once, its answers depend on who is asked beside whom, and a table must not mix the two.
    """

    kind: ClassVar[str] = "standardised-sum"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = "sum of the clients' features, each brought to mean 0 and deviation 1; nearest anchor"
    reference: ClassVar[str] = "FedSRA: UpcNlp 2026"
    makes: ClassVar[Made] = (StandardisedSumPredictor, StandardisedByBatch)
    moments: Annotated[
        ScalePopulation,
        Doc("source of mean and deviation: the client's images (uploaded), or the unlabelled `test- batch`"),
    ] = "own-images"

    @property
    def needs(self) -> Parts:
        return MODEL | {EmbeddingMoments()} if self.moments == "own-images" else MODEL

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Ensemble:
        members = Members.of(uploads, server.blueprint)
        anchors = F.normalize(F.normalize(prototypes_of(uploads), dim=2).mean(0))
        samples = torch.tensor([float(upload.samples) for upload in uploads])
        weights = samples.sqrt() / samples.sqrt().sum()  # F is normalised: only their ratio counts
        if self.moments == "test-batch":
            return StandardisedByBatch(members, anchors=anchors, weights=weights)
        means, deviations = (
            torch.stack([u.tensors[name] for u in uploads]) for name in (EMBEDDING_MEAN, EMBEDDING_STD)
        )
        return StandardisedSumPredictor(members, anchors=anchors, weights=weights, means=means, deviations=deviations)


def standardised(z: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    return (z - mean) / deviation.clamp(min=FLAT)
