"""Stages: at certain times a client minimises something else than usual."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol

from annotated_types import Ge, Le

from mooring.bounds import Checked
from mooring.losses import LossTerm
from mooring.types import NonNegative, NonNegativeInt, Progress


class When(Protocol):
    """A time, over the progress of the whole training and the epoch within the round."""

    kind: ClassVar[str]

    def __call__(self, progress: Progress) -> bool: ...


@dataclass(frozen=True)
class FirstEpochs(Checked):
    """The first epochs of *every* round: as note 1 has it."""

    kind: ClassVar[str] = "first-epochs"
    epochs: NonNegativeInt = 1

    def __call__(self, progress: Progress) -> bool:
        return progress.epoch < self.epochs


@dataclass(frozen=True)
class Before(Checked):
    """The beginning of the whole training, up to this progress."""

    kind: ClassVar[str] = "before"
    progress: Annotated[float, Ge(0), Le(1)] = 0.1

    def __call__(self, progress: Progress) -> bool:
        return progress.overall < self.progress


WHENS: dict[str, type[When]] = {"first-epochs": FirstEpochs, "before": Before}


@dataclass(frozen=True)
class Stage(Checked):
    """For as long as `when` holds, the loss is the weighted sum of `terms` and nothing else."""

    when: When
    terms: tuple[LossTerm, ...]
    weights: tuple[NonNegative, ...] | None = None  # one per term; None is 1 for each
