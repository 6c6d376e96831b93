"""What a doctor looks at: the course of a training, wherever its record comes from."""

from dataclasses import dataclass, field

from mooring.weighting import Weighting


@dataclass(frozen=True)
class Moment:
    """A client at the end of a round; None where the record does not say."""

    round: int
    steps: int | None = None  # optimizer steps so far
    base_loss: float | None = None  # L_b
    align_loss: float | None = None  # L_a
    raw: float | None = None  # lambda as the rule has it
    felt: float | None = None  # lambda as the weights felt it
    rest: float | None = None  # the felt lambda at which the rule would come to rest
    factor: float | None = None  # the annealing factor that the weights felt
    accuracy: float | None = None  # of the client alone
    norms: tuple[float, ...] = ()  # of its prototypes, one per class


@dataclass(frozen=True)
class Patient:
    """One client and its course."""

    client: int
    samples: int | None
    label_counts: tuple[int, ...] = ()
    align_start: float | None = None  # L_a before training
    moments: tuple[Moment, ...] = ()
    failure: str | None = None  # why it gave up, if it did


@dataclass(frozen=True)
class Setting:
    """What the training was made of, as far as it is known."""

    rule: Weighting | None = None
    lr: float | None = None
    momentum: float | None = None
    batch_size: int | None = None
    views: int = 2
    classes: int | None = None
    dimension: int | None = None  # of the prototypes
    mean_squared: bool = True  # is L_a a mean over C x d entries?
    plain_mean: bool = True  # are prototypes fused by a plain mean?
    trains: bool = True  # do clients train at all, or only count?
    supcon: bool = True


@dataclass(frozen=True)
class History:
    """A run or a log, ready to be examined."""

    title: str
    method: str
    patients: tuple[Patient, ...]
    fused: dict[int, float]  # round -> fused accuracy
    setting: Setting = field(default_factory=Setting)
    remarks: tuple[str, ...] = ()  # what was inferred and not read

    def mean_accuracy(self, round_: int) -> float | None:
        """Of the clients alone, over those that have one in this round."""
        found = [m.accuracy for p in self.patients for m in p.moments if m.round == round_ and m.accuracy is not None]
        return sum(found) / len(found) if found else None
