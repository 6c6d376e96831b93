"""The nouns of the house: frozen data that travels between the rooms, and the numbers a field may hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt
from torch import Tensor

Positive = Annotated[float, Gt(0)]
NonNegative = Annotated[float, Ge(0)]
Fraction = Annotated[float, Ge(0), Le(1)]
OpenFraction = Annotated[float, Ge(0), Lt(1)]  # 1 itself would leave nothing
Count = Annotated[int, Gt(0)]
NonNegativeInt = Annotated[int, Ge(0)]


@dataclass(frozen=True)
class Progress:
    """Where a client stands in its whole local training; computed in one place, by the training loop."""

    step: int = 0
    steps: int = 1
    epoch: int = 0  # within the round
    local_epochs: int = 1
    round: int = 0
    rounds: int = 1

    @property
    def overall(self) -> float:
        """p in [0, 1), over all rounds x epochs, never per round."""
        return self.step / self.steps

    @property
    def by_round(self) -> float:
        """r/R: the progress held constant within a round."""
        return self.round / self.rounds


@dataclass(frozen=True)
class View:
    """One augmented view of a batch, seen through the client's network."""

    logits: Tensor  # (B, C)
    features: Tensor  # (B, d), unit norm


@dataclass(frozen=True)
class FeatureBank:
    """Unit features made elsewhere, and their classes if they are known."""

    features: Tensor = field(repr=False)  # (M, d)
    labels: Tensor | None = field(default=None, repr=False)  # (M,)

    @property
    def nbytes(self) -> int:
        return self.features.nbytes + (0 if self.labels is None else self.labels.nbytes)

    @property
    def sha256(self) -> str:
        """Of features and labels, shapes and types included."""
        content = sha256()
        for tensor in (self.features, self.labels):
            if tensor is not None:
                content.update(f"{tensor.dtype} {tuple(tensor.shape)} ".encode())
                content.update(tensor.contiguous().numpy().tobytes())
        return content.hexdigest()


@dataclass(frozen=True)
class Step:
    """All that a loss term may look at."""

    labels: Tensor  # (B,)
    views: tuple[View, ...]
    prototypes: Tensor  # (C, d)
    anchors: Tensor | None  # (C, d)
    progress: Progress
    bank: FeatureBank | None = None  # public features, the same for all clients
    memory: FeatureBank | None = None  # this client's own past features
    label_counts: Tensor | None = None  # (C,), of all images of this client


@dataclass(frozen=True)
class Losses:
    """What a weighting balances: the base loss, the alignment loss, and where their gradients meet."""

    local: Tensor  # L_b
    align: Tensor  # L_a
    terms: Mapping[str, Tensor]  # the parts of L_b by name
    embedding: Tensor  # (V * B, d), unit norm
    prototypes: Tensor  # (C, d)


@dataclass(frozen=True)
class Balanced:
    """A weighting's answer. `lam` is what the weights really felt, and it is what gets logged."""

    model_loss: Tensor
    own_loss: Tensor | None  # for the weighting's own parameters; None when it has none
    raw: Tensor
    lam: Tensor
    measured: Mapping[str, Tensor] = field(default_factory=dict)  # what else is worth logging


@dataclass(frozen=True)
class ClientFacts:
    """What is known of a client before it trains."""

    client: int
    label_counts: tuple[int, ...]
    steps: int = 0  # optimizer steps of its whole training

    @property
    def samples(self) -> int:
        return sum(self.label_counts)

    @property
    def classes(self) -> int:
        return len(self.label_counts)


@dataclass(frozen=True)
class Upload:
    """One upload: how many samples stand behind it, and exactly the tensors that the fusion needs."""

    client: int
    round: int
    samples: int
    tensors: Mapping[str, Tensor] = field(repr=False)
    site: str = ""  # the name of whoever holds the images
    job: str = ""  # SHA-256 of the work order it answers

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors.values())


@dataclass(frozen=True)
class Event:
    """Something that happened; the run folder keeps them in order, and nothing else is the record."""

    name: str
    fields: Mapping[str, object]


Emit = Callable[[Event], None]
