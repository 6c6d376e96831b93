"""The nouns of the house: frozen data that travels between the rooms, and numbers that a field may hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from torch import Tensor


@dataclass(frozen=True)
class Progress:
    """Where a client stands in its whole local training; computed in one place, by the training loop.

    >>> from mooring import Progress
    >>> Progress(step=30, steps=120).overall
    0.25
    """

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

    @property
    def by_epoch(self) -> float:
        """The progress held constant within an epoch."""
        return (self.round * self.local_epochs + self.epoch) / (self.rounds * self.local_epochs)


@dataclass(frozen=True)
class View:
    """One augmented view of a batch, seen through the client's network.

    >>> import torch
    >>> from mooring import View
    >>> View(logits=torch.tensor([[0.1, 2.0]]), features=torch.eye(1, 8)).logits.argmax(1).tolist()
    [1]
    """

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
    """All that a loss term may look at.

    >>> import torch
    >>> from mooring import Progress, Step, View
    >>> view = View(torch.zeros(4, 3), features=torch.eye(4, 8))
    >>> step = Step(torch.tensor([0, 0, 1, 2]), (view,), torch.zeros(3, 8), None, Progress())
    >>> torch.nn.functional.cross_entropy(step.views[0].logits, step.labels).exp().round().item()
    3.0
    """

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
    held_out: Tensor | None = None  # L_b on images that the client does not train on, if it keeps some


@dataclass(frozen=True)
class Balanced:
    """A weighting's answer: loss = w_local L_b + w_align L_a (+ own_loss).

    Weights that carry a gradient teach the weighting's own parameters with the very loss of the model. `lambda_raw` is
    what the rule says, `schedule_factor` what a schedule made of it, `lambda_felt` = w_align / w_local what the model
    really feels, all of them as they are logged.

    >>> import torch
    >>> from mooring import pull
    >>> balanced = pull(lambda_raw=torch.tensor(4.0), lambda_felt=torch.tensor(2.0), schedule_factor=0.5)
    >>> balanced.loss(local=torch.tensor(1.0), align=torch.tensor(0.25)).item()
    1.5
    """

    w_local: Tensor
    w_align: Tensor
    own_loss: Tensor | None  # for the weighting's own parameters; None when it has none
    lambda_raw: Tensor
    lambda_felt: Tensor
    schedule_factor: Tensor | float = 1.0  # s(p), between raw and felt
    measured: Mapping[str, Tensor] = field(default_factory=dict)  # what else is worth logging

    def loss(self, local: Tensor, align: Tensor) -> Tensor:
        """The loss of a step whose two losses are L_b and L_a."""
        weighted = self.w_local * local + self.w_align * align
        return weighted if self.own_loss is None else weighted + self.own_loss


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
    """One upload: how many samples stand behind it, and exactly the tensors that the fusion needs.

    >>> import torch
    >>> from mooring import Upload
    >>> Upload(client=0, round=9, samples=12, tensors={"label_counts": torch.tensor([5, 7])}).nbytes
    16
    """

    client: int
    round: int
    samples: int
    tensors: Mapping[str, Tensor] = field(repr=False)
    site: str = ""  # the name of whoever holds the images
    job: str = ""  # SHA-256 of the client job it answers

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors.values())


@dataclass(frozen=True)
class PartitionSummary:
    """A partition in numbers; empty or None where a log does not tell."""

    samples: int | None  # of the population
    clients: int
    sizes: tuple[int, ...] = ()
    label_counts: tuple[tuple[int, ...], ...] = ()  # n_kc
    classes_per_client: tuple[int, ...] = ()
    entropy: tuple[float, ...] = ()  # of each client's labels, in bits
    normalised_entropy: tuple[float, ...] = ()  # / log2 C
    size_variation: float | None = None  # std(n_k) / mean(n_k)
    overlap: float | None = None  # sum_k n_k / distinct images
    coverage: float | None = None  # distinct images / samples
    sha256: str | None = None
    public: int | None = None  # images that everybody may see
