"""Where the two learned scalars start, and how fast they move.

u = log sigma_local^2,   v = log sigma_align^2,   raw lambda = e^(u - v)
"""

from dataclasses import dataclass, field
from math import log
from typing import Annotated, ClassVar, Protocol

from mooring.schema import Checked, Doc, Positive
from mooring.types import ClientFacts
from mooring.weighting._entropy import ByEntropy


class Start(Protocol):
    """Initial u and v of a client."""

    kind: ClassVar[str]

    def values(self, facts: ClientFacts) -> tuple[float, float]: ...


@dataclass(frozen=True)
class Zero:
    """u = v = 0: lambda starts at 1 (note 2)."""

    kind: ClassVar[str] = "zero"

    def values(self, facts: ClientFacts) -> tuple[float, float]:
        return 0.0, 0.0


@dataclass(frozen=True)
class FromEntropy(Checked):
    """u = log lambda_k, v = 0: lambda starts where the entropy rule of V9 puts it (the runs of notes 3 and 5)."""

    kind: ClassVar[str] = "entropy"
    minimum: Annotated[Positive, Doc("as `by-entropy`, for the first lambda")] = 0.1
    maximum: Annotated[Positive, Doc("as `by-entropy`, for the first lambda")] = 10.0

    def values(self, facts: ClientFacts) -> tuple[float, float]:
        return log(ByEntropy(self.minimum, self.maximum).value(facts)), 0.0


@dataclass(frozen=True)
class Values(Checked):
    """u and v as given; note 2 proposes -1 and 0, so that lambda starts below 1."""

    kind: ClassVar[str] = "values"
    u: Annotated[float, Doc("log sigma_local^2")] = -1.0
    v: Annotated[float, Doc("log sigma_align^2")] = 0.0

    def values(self, facts: ClientFacts) -> tuple[float, float]:
        return self.u, self.v


STARTS: dict[str, type[Start]] = {"zero": Zero, "entropy": FromEntropy, "values": Values}


@dataclass(frozen=True)
class Sigma(Checked):
    """`lr` None is the model's learning rate; `lr_scale` multiplies either (note 2 proposes 0.01)."""

    lr: Annotated[Positive | None, Doc("learning rate of the two scalars; `null` is the model's")] = None
    lr_scale: Annotated[Positive, Doc("multiplies the learning rate of the two scalars")] = 1.0
    start: Annotated[Start, Doc("where they start, see below")] = field(default_factory=Zero)

    def rate(self, model_lr: float) -> float:
        return self.lr_scale * (model_lr if self.lr is None else self.lr)
