"""Clients train and send sums in one upload; the server adds the two log-probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from mooring.data import ImageSet, batches
from mooring.fusion._base import Fusion, FusionGroup, Made, Server, ServerCost
from mooring.fusion._familiarity import Familiarity, FamiliarityPredictor
from mooring.fusion._linear_head import LinearHeadFusion
from mooring.fusion._predictor import Predictor, Saved
from mooring.fusion._solvers import Ridge, Solver
from mooring.models import DATA_FREE_MAP, FeatureMap
from mooring.schema import Doc, NonNegative, Tree
from mooring.types import Upload
from mooring.uploads import Parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH = 512
USUAL_WEIGHT = 0.3  # a cautious guess, not tuned: studies/trained_and_sums.py compares others on validation images
PULL = 1.0  # of the usual factors, in images: where all validation images are right, the likelihood has no peak


class TrainedAndSumsPredictor(Predictor):
    """u log p_sums(x) + v log p_trained(x)"""

    kind: ClassVar[str] = "trained-and-sums"
    holds: ClassVar[tuple[str, ...]] = ("factors",)
    sides: ClassVar[tuple[int, ...]] = (1,)
    factors: Tensor  # u and v, (2,)

    def __init__(self, sums: Predictor, trained: Predictor, factors: Tensor) -> None:
        super().__init__(sums.blueprint)
        self.sums, self.trained = sums, trained
        self.clients, self.passes = trained.clients, trained.passes + sums.passes
        self.hold(factors=factors)

    def forward(self, images: Tensor) -> Tensor:
        return self._combined(self.sums(images), self.trained(images))

    def with_members(self, images: Tensor) -> tuple[Tensor, list[Tensor]]:
        scores, own, _ = self.with_parts(images)
        return scores, own

    def with_parts(self, images: Tensor) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """The parts are the sums alone and the trained networks alone."""
        trained, own = self.trained.with_members(images)
        sums = self.sums(images)
        return self._combined(sums, trained), own, [sums, trained]

    def _combined(self, sums: Tensor, trained: Tensor) -> Tensor:
        u, v = self.factors
        combined: Tensor = u * sums.log_softmax(1) + v * trained.log_softmax(1)
        return combined

    def tree(self) -> Tree:
        return super().tree() | {"sums": self.sums.tree(), "trained": self.trained.tree()}

    @classmethod
    def restored(cls, saved: Saved) -> Self:
        return cls(saved.predictor("sums"), saved.predictor("trained"), **saved.held(cls))


@dataclass(frozen=True)
class TrainedAndSums(Fusion):
    """score(x) = u log p_sums(x) + v log p_trained(x)

    p_sums is the linear head over the clients' sums, p_trained a fusion of their trained networks. With validation
    images at the server, u and v are those of the largest likelihood there, neither below 0: v = 0 is the sums alone,
    and the scores are probabilities. Without any, u = 1 and v = `weight`. One upload cannot hold what would tell v: the
    fused networks of all clients would have to be asked about an image that only one client has.
    """

    kind: ClassVar[str] = "trained-and-sums"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = "log-probabilities of a linear head over sums, and of a fusion of trained networks, added up"
    reference: ClassVar[str] = "Mooring, 2026"
    cost: ClassVar[ServerCost] = "seconds"
    makes: ClassVar[Made] = (TrainedAndSumsPredictor, *LinearHeadFusion.makes, FamiliarityPredictor)
    map: Annotated[FeatureMap, Doc("feature map of the sums, see below")] = DATA_FREE_MAP
    solver: Annotated[Solver, Doc("head of the sums, see below")] = field(default_factory=Ridge)
    trained: Annotated[Fusion, Doc("the rule for the trained networks")] = field(default_factory=Familiarity)
    weight: Annotated[NonNegative, Doc("weight of the trained networks without validation images")] = USUAL_WEIGHT

    @property
    def needs(self) -> Parts:
        return self._sums.needs | self.trained.needs

    @property
    def _sums(self) -> LinearHeadFusion:
        return LinearHeadFusion(self.map, self.solver)

    def __call__(self, uploads: Sequence[Upload], server: Server) -> TrainedAndSumsPredictor:
        sums, trained = self._sums(uploads, server), self.trained(uploads, server)
        if not server.validation:
            return TrainedAndSumsPredictor(sums, trained, torch.tensor([1.0, float(self.weight)]))
        result = TrainedAndSumsPredictor(sums, trained, best_factors(sums, trained, server.validation))
        result.confidence = "probability"
        return result


def best_factors(sums: Predictor, trained: Predictor, validation: ImageSet) -> Tensor:
    """argmax over u, v >= 0 of the log-likelihood of softmax(u a + v b) - PULL |(u, v) - (1, USUAL_WEIGHT)|^2, (2,)"""
    with torch.no_grad():
        parts = [(sums(batch), trained(batch)) for batch in batches(validation.images, BATCH)]
    of_sums, of_trained = (torch.cat(own) for own in zip(*parts, strict=True))
    return factors_of(of_sums, of_trained, validation.labels)


def factors_of(sums: Tensor, trained: Tensor, labels: Tensor) -> Tensor:
    """The same for scores that are known, (N, C) each"""
    from scipy.optimize import minimize  # here: every start would pay for it

    logs = torch.stack([scores.double().log_softmax(1) for scores in (sums, trained)])  # (2, N, C)
    right = logs.gather(2, labels.expand(2, -1)[:, :, None])[:, :, 0]  # (2, N)

    def loss(factors: "NDArray[np.float64]") -> tuple[float, "NDArray[np.float64]"]:
        scores = torch.einsum("m,mnc->nc", torch.from_numpy(factors), logs)
        slope = ((scores.softmax(1) * logs).sum(2) - right).mean(1)
        value = (scores.logsumexp(1) - torch.from_numpy(factors) @ right).mean()
        apart, pull = factors - usual, PULL / len(labels)
        return float(value) + pull * float(apart @ apart), slope.numpy() + 2 * pull * apart

    usual = np.array([1.0, USUAL_WEIGHT])
    found = minimize(loss, usual, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * 2)
    return torch.from_numpy(found.x).float()
