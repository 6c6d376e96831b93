"""What happens in a run, as types: a training loop, a server or a sweep emits them, the run folder keeps them in order.

Every event has a word, under which it stands in `events.jsonl`. Events that only tell how far something is are shown
and not kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from mooring.types import PartitionSummary


class Event:
    """Something that happened."""

    word: ClassVar[str]
    kept: ClassVar[bool] = True  # in the run folder


Emit = Callable[[Event], None]


def silent(event: Event) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class ClientStarted(Event):
    """Where a client begins; its L_a before the first step is the measure of a lambda that has not moved."""

    word: ClassVar[str] = "start"
    client: int
    samples: int
    steps: int  # of its whole training
    dimension: int  # of its prototypes
    align_loss: float | None = None


@dataclass(frozen=True)
class ClientResumed(Event):
    """A client goes on from a state that was kept."""

    word: ClassVar[str] = "resumed"
    client: int
    round: int
    step: int


@dataclass(frozen=True)
class RunResumed(Event):
    """An interrupted run goes on: how many of its clients are done, and from where others go on; the rest begins."""

    word: ClassVar[str] = "run-resumed"
    kept: ClassVar[bool] = False
    clients: int  # that have images
    done: int
    on_the_way: tuple[ClientResumed, ...] = ()


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C: how far the clients are that go on when the run is resumed, and the names of all sites."""

    def __init__(self, kept: RunResumed, sites: tuple[str, ...]) -> None:
        super().__init__()
        self.kept = kept
        self.sites = sites


@dataclass(frozen=True)
class ClientStarved(Event):
    """A client has nothing to train on and uploads nothing."""

    word: ClassVar[str] = "starved"
    client: int
    reason: str


@dataclass(frozen=True)
class ClientFailed(Event):
    """A client gave up; the others go on."""

    word: ClassVar[str] = "failed"
    client: int
    problem: str
    remedy: str = ""


@dataclass(frozen=True)
class EpochRecord(Event):
    """The parts of L_b, and L_a if it acted, as means over an epoch."""

    word: ClassVar[str] = "epoch"
    client: int
    round: int
    epoch: int
    terms: Mapping[str, float | None] = field(default_factory=dict)
    align_loss: float | None = None


@dataclass(frozen=True)
class ClientRecord(Event):
    """A client at the end of a round: means over its last epoch, lambda as the last step left it.

    None where there is nothing to say: no alignment, nothing learned, or a log that does not tell.
    """

    word: ClassVar[str] = "round"
    client: int
    round: int
    steps: int | None = None  # optimizer steps so far
    seconds: float | None = None  # of this round; of all its work where it trains nothing
    base_loss: float | None = None  # L_b
    align_loss: float | None = None  # L_a
    terms: Mapping[str, float | None] = field(default_factory=dict)  # the parts of L_b
    lambda_raw: float | None = None  # as the rule has it: sigma_local^2 / sigma_align^2 where it is learned
    schedule_factor: float | None = None  # s, what a schedule leaves of it
    lambda_felt: float | None = None  # as the weights felt it
    lambda_star: float | None = None  # the felt lambda at which the rule would come to rest
    lambda_star_raw: float | None = None
    sigma_sq_local: float | None = None
    sigma_sq_align: float | None = None
    gradient_norm: float | None = None
    gradient_cosine: float | None = None  # between the two tasks, where it is measured
    gradient_ratio: float | None = None  # of the base loss over that of the alignment, at the embedding, likewise
    train_accuracy: float | None = None
    prototype_norms: tuple[float, ...] = ()  # one per class
    feature_scatter: float | None = None  # the share of its features' scatter that is within classes
    anchor_cosine: float | None = None  # between its features and the anchors of their classes, on average
    accuracy: float | None = None  # of the client alone, on the test images; known once its upload was fused
    lambda_printed: float | None = None  # "truly effective" in an old log: raw times s, which no weight ever felt


@dataclass(frozen=True)
class PartitionDrawn(Event):
    """Who holds what."""

    word: ClassVar[str] = "partition"
    sites: tuple[str, ...]
    summary: PartitionSummary


@dataclass(frozen=True)
class Forecast(Event):
    """What can be said of a run before it begins."""

    word: ClassVar[str] = "forecast"
    kind: str
    text: str  # in plain words
    client: int | None = None  # None: the run as a whole
    remedy: str = ""  # settings
    evidence: str = ""  # in symbols


@dataclass(frozen=True)
class Remark(Event):
    """Something a reader of the record should know: a damaged file, a bank that is smaller than asked."""

    word: ClassVar[str] = "remark"
    text: str


@dataclass(frozen=True)
class FeaturesChosen(Event):
    """What a method that had the choice looks at, and why."""

    word: ClassVar[str] = "features"
    features: str
    track: str
    reason: str


@dataclass(frozen=True)
class SnapshotFused(Event):
    """The uploads of a round were fused and the predictor was evaluated."""

    word: ClassVar[str] = "fused"
    round: int
    accuracy: float | None
    seconds: float | None = None
    images: int | None = None  # test images that it was evaluated on


@dataclass(frozen=True)
class FusionBegan(Event):
    """The uploads of a round are being fused."""

    word: ClassVar[str] = "fusing"
    kept: ClassVar[bool] = False
    round: int


@dataclass(frozen=True)
class ClientProgress(Event):
    """How far a client is."""

    word: ClassVar[str] = "tick"
    kept: ClassVar[bool] = False
    client: int
    round: int
    step: int
    steps: int
    base_loss: float | None = None
    lambda_felt: float | None = None


@dataclass(frozen=True)
class ServerProgress(Event):
    """How far the server is with what it trains itself."""

    word: ClassVar[str] = "server"
    kept: ClassVar[bool] = False
    what: str
    step: int
    steps: int


@dataclass(frozen=True)
class ImagesRead(Event):
    """How many files of images are decoded."""

    word: ClassVar[str] = "reading"
    kept: ClassVar[bool] = False
    done: int
    files: int


@dataclass(frozen=True)
class Downloaded(Event):
    """How many bytes of a file are here; `resumed` when it goes on where an earlier download ended."""

    word: ClassVar[str] = "download"
    kept: ClassVar[bool] = False
    file: str
    done: int
    total: int | None
    resumed: bool = False


@dataclass(frozen=True)
class SweepBegan(Event):
    """How many runs a sweep has, and how many of them were finished before."""

    word: ClassVar[str] = "sweep"
    kept: ClassVar[bool] = False
    runs: int
    finished: int


@dataclass(frozen=True)
class SweepWaits(Event):
    """Nothing ended since the last event: time to look how far the runs are."""

    word: ClassVar[str] = "waiting"
    kept: ClassVar[bool] = False


@dataclass(frozen=True)
class RunEnded(Event):
    """A run of a sweep has ended; `reason` says why it failed, if it did."""

    word: ClassVar[str] = "run-ended"
    kept: ClassVar[bool] = False
    name: str
    reason: str = ""


KEPT: dict[str, type[Event]] = {
    kind.word: kind
    for kind in (
        ClientStarted,
        ClientResumed,
        ClientStarved,
        ClientFailed,
        EpochRecord,
        ClientRecord,
        PartitionDrawn,
        Forecast,
        Remark,
        FeaturesChosen,
        SnapshotFused,
    )
}
