"""What the doctor examines: the record of a run, its training setup, and the lambda of each client over the rounds,
with what was known about it before training."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite, log
from pathlib import Path
from statistics import median
from typing import Any

from mooring.config import HOUSE_CODE, Experiment, Trust, load_recorded, read_file, trusted_code_of
from mooring.doctor._finding import FindingEvidence
from mooring.errors import StoreError
from mooring.events import ClientRecord
from mooring.fusion import FeatureEnsemble, Iffi
from mooring.losses import MeanSquared, SupCon
from mooring.record import ClientHistory, RunFolder, RunRecord, RunResult
from mooring.types import ClientFacts, Progress
from mooring.weighting import LambdaBounds, Weighting

SMALLEST, LARGEST = 1e-100, 1e100
MEASURED = ("base_loss", "align_loss", "lambda_raw", "lambda_felt", "lambda_star", "schedule_factor", "sigma_sq_local")
DIMENSIONS = {"resnet18": 512, "resnet34": 512}  # of the published code's models


@dataclass(frozen=True)
class TrainingSetup:
    """What the training was made of, as far as it is known."""

    rule: Weighting | None = None
    lr: float | None = None
    momentum: float | None = None
    batch_size: int | None = None
    rounds: int = 1
    views: int = 2
    classes: int | None = None
    dimension: int | None = None  # of the prototypes
    mean_squared: bool = True  # is L_a a mean over C x d entries?
    plain_mean: bool = True  # are prototypes fused by a plain mean?
    trains: bool = True  # do clients train at all, or only count?
    supcon: bool = True
    inferred: bool = False  # are both losses only what sigma says they would be at the equilibrium?


@dataclass(frozen=True)
class Case:
    """A run or a log, ready to be examined."""

    title: str
    method: str
    record: RunRecord
    setting: TrainingSetup = field(default_factory=TrainingSetup)
    folder: Path | None = None  # of a run that was made here: it can be fused and run again
    own_code: bool = False  # does it name code that must be trusted again?

    @property
    def clients(self) -> int:
        return len(self.record.clients)


def case_of(folder: RunFolder, trust: Trust = HOUSE_CODE) -> Case:
    """A finished run; raises an error if clients train and no round is recorded."""
    result, title = folder.result, str(folder.path)
    if result.origin is not None:
        case = case_of_log(folder.record, read_file(folder.experiment_file), title)
        remarks = (f"imported from {result.origin.log}", *case.record.remarks)
        return replace(case, record=replace(case.record, remarks=remarks))
    experiment = load_recorded(folder.experiment_file, trust)
    record = folder.record
    trained = [client for client in record.clients if client.rounds and client.rounds[0].prototype_norms]
    if not trained and experiment.method.client.terms:
        raise StoreError(f"{folder.path}: events.jsonl records no round", "repeat the run with --again")
    started = next((client.started for client in trained if client.started), None)
    setting = setting_of(experiment, len(result.classes), started.dimension if started else None)
    return Case(title, result.method, record, setting, folder.path, bool(trusted_code_of(experiment.tree()).modules))


def case_of_log(record: RunRecord, settings: Mapping[str, object], title: str) -> Case:
    """A log, which holds no losses: at the equilibrium sigma_local^2 = L_b and sigma_align^2 = s L_a."""
    assert record.result is not None
    clients = [replace(client, rounds=tuple(map(inferred, client.rounds))) for client in record.clients]
    return Case(
        title, record.result.method, replace(record, clients=tuple(clients)), setting_of_log(settings, record.result)
    )


def inferred(row: ClientRecord) -> ClientRecord:
    s, align = row.schedule_factor, row.sigma_sq_align
    return replace(row, base_loss=row.sigma_sq_local, align_loss=align / s if align and s else None)


def setting_of(experiment: Experiment, classes: int, dimension: int | None) -> TrainingSetup:
    client, training = experiment.method.client, experiment.training
    return TrainingSetup(
        client.align.weight if client.align else None,
        training.lr,
        training.momentum,
        training.batch_size,
        training.rounds,
        client.views.count,
        classes,
        dimension,
        mean_squared=client.align is not None and client.align.term == MeanSquared(),
        plain_mean=isinstance(experiment.method.fusion, FeatureEnsemble | Iffi),
        trains=bool(client.terms),
        supcon=any(term.kind == SupCon.kind for term in client.terms),
    )


def setting_of_log(settings: Mapping[str, object], result: RunResult) -> TrainingSetup:
    training, model = (part if isinstance(part, dict) else {} for part in map(settings.get, ("training", "model")))
    batch = training.get("batch_size")
    return TrainingSetup(
        lr=safe_number(training.get("lr")) or None,
        momentum=safe_number(training.get("momentum")),
        batch_size=batch if isinstance(batch, int) and batch > 0 else None,
        classes=len(result.classes) or None,
        inferred=True,
        dimension=DIMENSIONS.get(str(model.get("kind"))),
    )


def without_invalid_numbers(case: Case) -> Case:
    """Without numbers that no loss and no weight can be: a file may say anything."""
    clients = tuple(replace(client, rounds=tuple(map(sound_row, client.rounds))) for client in case.record.clients)
    fused = {round_: accuracy for round_, accuracy in case.record.fused.items() if isfinite(accuracy)}
    return replace(case, record=replace(case.record, clients=clients, fused=fused))


def sound_row(row: ClientRecord) -> ClientRecord:
    said = {name: getattr(row, name) for name in MEASURED}
    wrong: dict[str, Any] = {name: None for name, value in said.items() if value != safe_number(value)}
    return replace(row, **wrong) if wrong else row


def safe_number(value: object) -> float | None:
    """A number of which squares and ratios are numbers too; anything else is not known."""
    sensible = isinstance(value, int | float) and (value == 0 or SMALLEST < value < LARGEST)
    return value if sensible else None  # type: ignore[return-value]


def read_case(folder: Path, trust: Trust = HOUSE_CODE) -> Case:
    return case_of(RunFolder(folder), trust)


@dataclass(frozen=True)
class Course:
    """The rounds in which a client's lambda is known."""

    client: ClientHistory
    seen: list[ClientRecord]
    outlook: LambdaBounds | None


def courses_of(case: Case) -> Iterator[Course]:
    for client in case.record.clients:
        seen = [moment for moment in client.rounds if moment.lambda_felt is not None and moment.lambda_raw is not None]
        if seen:
            yield Course(client, seen, lambda_bounds_of(client, case.setting))


def gathered(
    case: Case, courses: Iterable[Course], look: Callable[[Case, Course], FindingEvidence | None]
) -> list[FindingEvidence]:
    return [shown for course in courses if (shown := look(case, course)) is not None]


def lambda_bounds_of(client: ClientHistory, setting: TrainingSetup) -> LambdaBounds | None:
    """What was known of this client's lambda before it trained."""
    if setting.rule is None or setting.lr is None or setting.momentum is None:
        return None
    steps = max((moment.steps or 0 for moment in client.rounds), default=0)
    facts = ClientFacts(client.client, client.label_counts, steps)
    largest = max((moment.base_loss for moment in client.rounds if moment.base_loss), default=10.0)
    return setting.rule.outlook(facts, setting.lr, setting.momentum, largest)


def progress_of(client: ClientHistory, row: ClientRecord, setting: TrainingSetup) -> Progress:
    """Where the client stood at the last step of this round."""
    steps = max(client.rounds[-1].steps or 0, client.started.steps if client.started else 0, 1)
    rounds = max(setting.rounds, row.round + 1)
    return Progress(max((row.steps or 0) - 1, 0), steps, round=row.round, rounds=rounds)


def reference(client: ClientHistory, case: Case) -> float | None:
    """L_b / L_a at the start: the lambda of an equilibrium before anything has moved.

    A log holds no losses; the median effective lambda of all clients after the first round takes its place.
    """
    first = client.rounds[0]
    if first.base_loss is not None and client.started is not None and client.started.align_loss:
        return first.base_loss / client.started.align_loss
    begun = [felt for other in case.record.clients if other.rounds and (felt := other.rounds[0].lambda_felt)]
    return median(begun) if begun else None


def distance(seen: list[ClientRecord]) -> float | None:
    """Median over rounds of |log(lambda / lambda*)|."""
    apart = [
        abs(log(moment.lambda_felt / moment.lambda_star))
        for moment in seen
        if moment.lambda_felt and moment.lambda_star
    ]
    return median(apart) if apart else None
