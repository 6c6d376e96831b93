"""The shape of a loss term."""

from typing import ClassVar, Protocol

from torch import Tensor

from mooring.errors import UserCodeError
from mooring.types import Step
from mooring.user_code import place_of


class LossTerm(Protocol):
    """One summand of the base loss, or the alignment loss: a step in, a scalar out.

    A term of prototypes and anchors alone says `looks_at_views: ClassVar[bool] = False`: it has a value before there
    are any images. A term that needs more than the batch says `extra_input: ClassVar[str]`: "anchors", "bank",
    "bank labels" or "memory".

    >>> import torch
    >>> from mooring import Progress, Step
    >>> from mooring.losses import MeanSquared
    >>> MeanSquared()(Step(torch.tensor([]), (), torch.ones(3, 8), torch.zeros(3, 8), Progress())).item()
    1.0
    """

    kind: ClassVar[str]

    def __call__(self, step: Step) -> Tensor: ...


def looks_at_views(term: LossTerm) -> bool:
    """Does this term need images? One that does not say so does."""
    return bool(getattr(term, "looks_at_views", True))


def extra_input(term: LossTerm) -> str:
    """What a term needs beyond the batch, or nothing."""
    return str(getattr(term, "extra_input", ""))


def require_scalar(term: LossTerm, value: Tensor) -> Tensor:
    """What a term returned, which must be a scalar: a vector would be summed up with others, or fail far from here."""
    if isinstance(value, Tensor) and value.ndim == 0:
        return value
    what = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else f"a {type(value).__name__}"
    raise UserCodeError(
        f"{place_of(type(term).__call__)}: the loss {term.kind!r} returned {what}, a single number is needed",
        "return loss.mean()",
    )
