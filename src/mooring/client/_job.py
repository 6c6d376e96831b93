"""The client job that every client receives: the same for all of them, sent once."""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt
from torch import Generator, Tensor, randperm

from mooring.client._recipe import ClientRecipe
from mooring.models import Blueprint, blueprint_tree
from mooring.schedules import ScheduleName
from mooring.schema import (
    ADDED_LATER,
    Checked,
    Count,
    Doc,
    NonNegative,
    NonNegativeInt,
    Positive,
    by_file_hash,
    canonical_json,
    to_tree,
)
from mooring.types import FeatureBank
from mooring.uploads import Limits, Parts, expected_of, limits_for

FORMAT = 1  # of the canonical text


@dataclass(frozen=True)
class Training(Checked):
    """How long and how fast a client trains. A round is `local_epochs` epochs after which a snapshot may be taken.

    >>> from mooring import Training
    >>> Training(rounds=3, snapshots="last").kept()
    (2,)
    """

    rounds: Annotated[Count, Doc("blocks of local epochs; each may end with a snapshot")] = 10
    local_epochs: Annotated[Count, Doc("epochs in a round")] = 5
    batch_size: Annotated[int, Gt(0), Le(2**20), Doc("images per step; a smaller last batch is used")] = 32
    lr: Annotated[float, Gt(0), Le(1e6), Doc("learning rate")] = 0.05
    momentum: Annotated[float, Ge(0), Lt(1), Doc("momentum of SGD; see `training.optimizer`")] = 0.9
    weight_decay: Annotated[NonNegative, Doc("weight decay of the model, not of a weighting")] = 0.0
    clip: Annotated[Positive | None, Doc("largest gradient norm; `null` never clips")] = 1.0
    lr_schedule: Annotated[ScheduleName, Doc("schedule of the learning rate")] = "constant"
    snapshots: Annotated[
        Literal["all", "last"] | tuple[NonNegativeInt, ...],
        Doc("rounds that are uploaded and fused; always the last one"),
    ] = "all"
    precision: Annotated[
        Literal["float32", "bfloat16", "float16"],
        Doc("type of convolutions and matrix products; losses and weights stay float32"),
    ] = field(default="float32", metadata={ADDED_LATER: True})
    optimizer: Annotated[
        Literal["persistent", "per-round"],
        Doc("`persistent` keeps momentum over all rounds; `per-round` (as published) does not"),
    ] = field(default="persistent", metadata={ADDED_LATER: True})

    def kept(self) -> tuple[int, ...]:
        """The rounds whose snapshot is uploaded and fused; the last one always is."""
        last = self.rounds - 1
        if self.snapshots == "all":
            return tuple(range(self.rounds))
        if self.snapshots == "last":
            return (last,)
        return tuple(sorted({*self.snapshots, last}))


def steps_per_epoch(samples: int, batch_size: int) -> int:
    """ceil(n / B), one less when the last batch would hold a single image."""
    full, rest = divmod(samples, batch_size)
    if full == 0:
        return min(samples, 1)
    return full + (rest > 1 or (rest == 1 and batch_size == 1))


def epoch_batches(samples: int, batch_size: int, rng: Generator) -> list[Tensor]:
    """One epoch in random order; nothing is dropped, and a last batch of one joins the batch before it."""
    if samples == 0:
        return []
    parts = list(randperm(samples, generator=rng).split(batch_size))
    if len(parts) > 1 and len(parts[-1]) == 1 and batch_size > 1:
        last = parts.pop()
        parts[-1] = parts[-1].new_tensor([*parts[-1].tolist(), *last.tolist()])
    return parts


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

    @cached_property
    def limits(self) -> Limits:
        """What an upload of this job can measure at most."""
        return limits_for(expected_of(self.needs, self.blueprint))

    def canonical(self) -> str:
        """One text for one job, the same at every site: all of it, files by their content and the bank by its hash.

        It holds enough to build the job again wherever those files and the bank are.
        """
        return canonical_json(
            {
                "format": FORMAT,
                **blueprint_tree(self.blueprint),
                "recipe": to_tree(self.recipe, by_file_hash),
                "training": to_tree(self.training, by_file_hash),
                "seed": self.seed,
                "mirror": self.mirror,
                "needs": sorted((to_tree(part, by_file_hash) for part in self.needs), key=canonical_json),
                "limits": asdict(self.limits),
                "bank": None if self.bank is None else self.bank.sha256,
            }
        )

    @cached_property
    def sha256(self) -> str:
        """What every upload says it answers."""
        return sha256(self.canonical().encode()).hexdigest()
