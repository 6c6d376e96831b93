"""Any rule with honest confidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Annotated, ClassVar, Self

import torch
from torch import Tensor

from mooring.data import ImageSet, batches
from mooring.errors import FusionError
from mooring.fusion._base import Fusion, FusionGroup, Images, Made, Server
from mooring.fusion._class_expert import ClassExpert
from mooring.fusion._predictor import Confidence, Predictor, Saved
from mooring.schema import Doc, Tree
from mooring.types import Upload
from mooring.uploads import Parts

BATCH = 512
COLDEST, HOTTEST = 1e-3, 1e3


class CalibratedPredictor(Predictor):
    """The members of an ensemble can still be examined one by one, as they are."""

    kind: ClassVar[str] = "calibrated"
    holds: ClassVar[tuple[str, ...]] = ("temperature",)
    sides: ClassVar[tuple[int, ...]] = (0,)
    confidence: Confidence = "probability"
    temperature: Tensor  # ()

    def __init__(self, rule: Predictor, temperature: Tensor) -> None:
        super().__init__(rule.blueprint)
        self.rule = rule
        self.clients, self.passes = rule.clients, rule.passes
        self.hold(temperature=temperature)

    def forward(self, images: Tensor) -> Tensor:
        scores: Tensor = self.rule(images)
        return scores / self.temperature

    def with_members(self, images: Tensor) -> tuple[Tensor, list[Tensor]]:
        scores, own = self.rule.with_members(images)
        return scores / self.temperature, own

    def tree(self) -> Tree:
        return super().tree() | {"rule": self.rule.tree()}

    @classmethod
    def restored(cls, saved: Saved) -> Self:
        return cls(saved.predictor("rule"), **saved.held(cls))


@dataclass(frozen=True)
class Calibrated(Fusion):
    """score(x) = rule(x) / T, T = argmin of the negative log-likelihood on validation images (Guo et al. 2017).

    What the rule predicts stays what it is; only its confidence changes.
    """

    kind: ClassVar[str] = "calibrated"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = (
        "another rule (fusion.rule) whose scores are divided by one temperature fitted on validation images"
    )
    reference: ClassVar[str] = "Guo et al., ICML 2017"
    makes: ClassVar[Made] = (CalibratedPredictor,)
    rule: Annotated[Fusion, Doc("the rule to calibrate; needs `data.validation`")] = ClassExpert()

    @property
    def needs(self) -> Parts:
        return self.rule.needs

    @property
    def asks(self) -> frozenset[Images]:
        return self.rule.asks | {"validation"}

    def __call__(self, uploads: Sequence[Upload], server: Server) -> "CalibratedPredictor":
        if not server.validation:
            raise FusionError("calibration needs validation images, and the server has none", "set data.validation=0.1")
        predictor = self.rule(uploads, server)
        return CalibratedPredictor(predictor, torch.tensor(fitted(predictor, server.validation)))


def fitted(predictor: Predictor, validation: ImageSet) -> float:
    """The best temperature between the coldest and the hottest one."""
    with torch.no_grad():
        scores = torch.cat([predictor(batch) for batch in batches(validation.images, BATCH)])
    return best_temperature(scores, validation.labels)


def best_temperature(scores: Tensor, labels: Tensor) -> float:
    """T of the highest likelihood of these labels under softmax(scores / T)."""
    from scipy.optimize import brentq

    scores = scores.double()
    right = scores.gather(1, labels[:, None])[:, 0]

    def slope(log_temperature: float) -> float:
        """d NLL / d(1/T) = mean( sum_c p_c score_c - score_y ), rising in 1/T: the likelihood has one peak."""
        p = (scores * exp(-log_temperature)).softmax(1)
        return float(((p * scores).sum(1) - right).mean())

    if slope(log(COLDEST)) <= 0:  # never wrong where it is sure
        return COLDEST
    if slope(log(HOTTEST)) >= 0:  # no better than chance
        return HOTTEST
    return exp(brentq(slope, log(COLDEST), log(HOTTEST), xtol=1e-12))
