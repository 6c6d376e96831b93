"""What came out of a run: the types behind `result.json` and `fusions/*.json`. Nothing here is computed by readers."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from statistics import fmean
from typing import Literal

from mooring.events import ClientRecord
from mooring.record._metrics import Metrics, OwnLabels, TrainingGain
from mooring.schema import ADDED_LATER
from mooring.types import PartitionSummary

FORMAT = 2
Settings = Mapping[str, object]  # a configuration tree, as JSON has it


@dataclass(frozen=True)
class Seeds:
    """Which stream trained, and which divided the data."""

    training: int | None
    split: int | None


@dataclass(frozen=True)
class SiteRecord:
    """One holder of data."""

    number: int
    name: str
    images: int | None = None


@dataclass(frozen=True)
class Absence:
    """A client that delivered nothing, or not all."""

    client: int
    reason: str


@dataclass(frozen=True)
class UploadRecord:
    """One upload on disk."""

    client: int
    round: int
    samples: int
    bytes: int
    sha256: str
    site: str = ""
    job: str = ""  # SHA-256 of the job that it answers


@dataclass(frozen=True)
class RoundRecord:
    """One snapshot: the fused predictor, and every client that took part."""

    round: int
    metrics: Metrics
    clients: tuple[ClientRecord, ...] = ()
    validation_accuracy: float | None = None
    server_seconds: float | None = None  # from uploads to predictor
    passes: int | None = None  # through an encoder, for one prediction
    alone_images: int | None = None  # test images that clients were evaluated on by themselves; older records: all
    own_labels: OwnLabels | None = field(default=None, metadata={ADDED_LATER: True})  # of a head over sums
    training_gain: TrainingGain | None = field(default=None, metadata={ADDED_LATER: True})  # of `trained-and-sums`

    @property
    def accuracy(self) -> float:
        return self.metrics.accuracy

    @property
    def accuracy_alone(self) -> float | None:
        """Mean accuracy of the clients' own models."""
        own = [client.accuracy for client in self.clients if client.accuracy is not None]
        return fmean(own) if own else None


@dataclass(frozen=True)
class LoggedClient:
    """What a log prints of a client before it trains."""

    client: int
    entropy: float | None = None  # of its labels, in bits
    normalised_entropy: float | None = None  # / log2 C
    lambda_start: float | None = None


@dataclass(frozen=True)
class NotFinite:
    """A number of a log that JSON has no word for; in the record it is null."""

    round: int
    client: int | None  # None: the fused predictor
    quantity: str
    value: str  # nan, inf or -inf


@dataclass(frozen=True)
class Origin:
    """The log that an imported result was read from, and how much of the result it really says."""

    log: str
    sha256: str
    server: str | None = None  # which of its accuracies is shown
    version: str | None = None  # of the method, as the published code counts: V12
    identified: Literal["read", "inferred", "unknown"] = "unknown"  # the method
    evidence: tuple[str, ...] = ()  # for the method, in words
    inferred: Mapping[str, str] = field(default_factory=dict)  # field of the clients' records -> how it came about
    clients: tuple[LoggedClient, ...] = ()
    accuracies: Mapping[str, Mapping[int, float]] = field(default_factory=dict)  # server -> round -> accuracy
    not_finite: tuple[NotFinite, ...] = ()
    config: Settings = field(default_factory=dict)  # as the log prints it


@dataclass(frozen=True)
class Environment:
    """What the bytes of a run depend on beyond its configuration."""

    python: str
    packages: Mapping[str, str]
    system: str
    machine: str
    cores: int | None = None


@dataclass(frozen=True)
class TimeSpent:
    """Where the time of a run went, in seconds of the clock, as the process of the server saw it.

    Clients train in parallel with each other and with the rest: `train` is the time that the server waited for them.
    """

    prepare: float  # reading and dividing images
    train: float
    fuse: float  # from uploads to predictors
    evaluate: float
    write: float  # uploads, events and the result

    @property
    def evaluated(self) -> float:
        """The share of it that was evaluation, from 0 to 1."""
        total = sum(getattr(self, f.name) for f in fields(self))
        return self.evaluate / total if total else 0.0

    def __str__(self) -> str:
        return ", ".join(f"{f.name} {getattr(self, f.name):.1f} s" for f in fields(self))


@dataclass(frozen=True, repr=False)
class RunResult:
    """What `result.json` says about any run; None where the log of an imported run does not tell it."""

    method: str
    accuracy: float  # fused, after the last round
    rounds: tuple[RoundRecord, ...]
    partition: PartitionSummary
    seeds: Seeds
    _: KW_ONLY
    complete: bool | None = None  # False: a client failed
    dataset: str | None = None
    data_sha256: str | None = None
    test_images: int | None = None
    image_shape: tuple[int, ...] = ()  # channels, height, width
    classes: tuple[str, ...] = ()
    sites: tuple[SiteRecord, ...] = ()
    fingerprint: str | None = None
    job_sha256: str | None = None
    validation_accuracy: float | None = None
    absent: tuple[Absence, ...] = ()
    upload_bytes: int | None = None  # of all clients, after the last round: the one upload of one-shot learning
    download_bytes: int | None = None  # to each client, once, before it trains
    uploads: tuple[UploadRecord, ...] = ()
    seconds: float | None = None
    spent: TimeSpent | None = None
    command: str | None = None  # that made it
    date: str | None = None  # when it ended
    environment: Environment | None = None
    origin: Origin | None = None  # of an imported run
    files: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of the files beside it: experiment, events, model
    format: int = FORMAT

    def __repr__(self) -> str:
        """Short: a record has thousands of numbers."""
        facts = f"method={self.method!r}, accuracy={self.accuracy:.3f}, dataset={self.dataset!r}"
        return f"{type(self).__name__}({facts}, clients={self.clients}, seed={self.seeds.training})"

    @property
    def last(self) -> RoundRecord:
        """The final snapshot."""
        return self.rounds[-1]

    @property
    def metrics(self) -> Metrics:
        return self.last.metrics

    @property
    def clients(self) -> int:
        return self.partition.clients

    @property
    def local_test_images(self) -> str:
        """`2,000 of 10,000 test images` where clients by themselves were shown fewer than the fused predictor."""
        some, every = self.last.alone_images, self.test_images
        return f"{some:,} of {every:,} test images" if some and every and some < every else ""

    def site(self, number: int) -> str:
        """The name of a client's site."""
        return next((site.name for site in self.sites if site.number == number), f"client {number}")

    def delivered(self, round_: int) -> dict[int, UploadRecord]:
        """The uploads of a round by client."""
        return {upload.client: upload for upload in self.uploads if upload.round == round_}


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(RunResult):
    """The result of a run that was made here.

    >>> from pathlib import Path
    >>> from mooring import RunFolder
    >>> result = RunFolder(Path("runs/v12")).own_result
    >>> result.method, result.accuracy == result.last.metrics.accuracy
    ('v12', True)
    """

    complete: bool
    dataset: str
    test_images: int
    fingerprint: str
    job_sha256: str
    download_bytes: int
    origin: None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class ImportedResult(RunResult):
    """The result of a run that was read from a log."""

    origin: Origin


@dataclass(frozen=True)
class FusionRecord:
    """What another rule made of the uploads of a run: one file in `fusions/`.

    >>> from mooring import fuse, load_fusions
    >>> [record] = fuse("runs/v12", load_fusions("class-expert"))
    >>> record.fusion, 0 <= record.accuracy <= 1
    ('class-expert', True)
    """

    fusion: str
    track: str
    method: str
    fingerprint: str | None
    seeds: Seeds
    round: int
    clients: tuple[int, ...]
    metrics: Metrics
    settings: Settings = field(default_factory=dict)  # of the rule
    validation_accuracy: float | None = None
    upload_bytes: int | None = None  # for this rule alone
    server_seconds: float | None = None
    passes: int | None = None
    test_images: int | None = None
    format: int = FORMAT
    head: Settings | None = field(default=None, metadata={ADDED_LATER: True})  # of a rule over sums, as they chose it
    expected_accuracy: float | None = field(default=None, metadata={ADDED_LATER: True})  # of heads over the same sums

    @property
    def accuracy(self) -> float:
        return self.metrics.accuracy
