"""The work order that every client receives: the same for all of them, sent once."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt

from mooring.bounds import Checked
from mooring.client.recipe import ClientRecipe
from mooring.models.network import Blueprint
from mooring.schedules import ScheduleName
from mooring.types import Count, FeatureBank, NonNegative, NonNegativeInt, Positive
from mooring.uploads import Parts


@dataclass(frozen=True)
class Training(Checked):
    """How long and how fast a client trains. A round is `local_epochs` epochs after which a snapshot may be taken."""

    rounds: Count = 10
    local_epochs: Count = 5
    batch_size: Annotated[int, Gt(0), Le(2**20)] = 32
    lr: Annotated[float, Gt(0), Le(1e6)] = 0.05
    momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    weight_decay: NonNegative = 0.0
    clip: Positive | None = 1.0  # largest gradient norm; null never clips
    lr_schedule: ScheduleName = "constant"
    snapshots: Literal["all", "last"] | tuple[NonNegativeInt, ...] = "all"  # rounds that are kept and fused

    def kept(self) -> tuple[int, ...]:
        """The rounds whose snapshot is uploaded and fused; the last one always is."""
        last = self.rounds - 1
        if self.snapshots == "all":
            return tuple(range(self.rounds))
        if self.snapshots == "last":
            return (last,)
        return tuple(sorted({*self.snapshots, last}))


@dataclass(frozen=True)
class ClientJob:
    """Everything that influences a client's training, but its data."""

    blueprint: Blueprint
    recipe: ClientRecipe
    training: Training
    seed: int
    mirror: bool  # may images be flipped?
    needs: Parts  # what the fusion wants uploaded
    bank: FeatureBank | None = None  # public features, sent before the one upload

    def kept(self) -> tuple[int, ...]:
        """The rounds whose snapshot is uploaded; a client that trains nothing uploads once."""
        return self.training.kept() if self.recipe.terms else (0,)
