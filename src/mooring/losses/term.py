"""The shape of a loss term."""

from typing import ClassVar, Protocol

from torch import Tensor

from mooring.types import Step


class LossTerm(Protocol):
    """One summand of the base loss, or the alignment loss: a step in, a scalar out.

    A term of prototypes and anchors alone says `looks_at_views: ClassVar[bool] = False`: it has a value before there
    are any images.
    """

    kind: ClassVar[str]

    def __call__(self, step: Step) -> Tensor: ...


def looks_at_views(term: LossTerm) -> bool:
    """Does this term need images? One that does not say so does."""
    return bool(getattr(term, "looks_at_views", True))
