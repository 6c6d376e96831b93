"""The shape of a loss term."""

from typing import ClassVar, Protocol

from torch import Tensor

from mooring.types import Step


class LossTerm(Protocol):
    """One summand of the base loss, or the alignment loss: a step in, a scalar out."""

    kind: ClassVar[str]

    def __call__(self, step: Step) -> Tensor: ...
