"""What claims can ask: finished runs, by sweep and factors, and what each of them recorded of a client in a round."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from mooring.errors import ConfigError, nearest
from mooring.events import ClientRecord, EpochRecord
from mooring.record import Result, RunFolder
from mooring.sweep.members import MemberResult

Trace = dict[int, dict[int, float]]  # client -> round -> value
CONSTANTS = ("entropy", "normalised_entropy", "sizes", "classes_per_client")  # of a client, known before it trains


class Finished(Protocol):
    """A member of a sweep."""

    @property
    def name(self) -> str: ...
    @property
    def factors(self) -> dict[str, Any]: ...
    @property
    def folder(self) -> Path: ...
    @property
    def result(self) -> MemberResult | None: ...


@dataclass(frozen=True)
class StudyRun:
    """One finished run: the accuracy of its fusion, and the records of the training behind it."""

    name: str
    factors: Mapping[str, Any]
    accuracy: float
    fused: Mapping[int, float] = field(default_factory=dict)  # by round; only the last for a fusion made afterwards
    rounds: tuple[ClientRecord, ...] = ()  # of all clients
    epochs: tuple[EpochRecord, ...] = ()
    trained: Result | None = None  # of the training

    @property
    def seed(self) -> int:
        return int(self.factors.get("seed", 1))

    def trace(self, name: str) -> Trace:
        """A recorded value by client and round; of `accuracy`, the client's own on the test set."""
        found: Trace = {}
        for client, round_, value in self._values(name):
            if value is not None:
                found.setdefault(client, {})[round_] = float(value)
        return found

    def _values(self, name: str) -> Iterator[tuple[int, int, float | None]]:
        if name in CONSTANTS:
            present = {record.client for record in self.rounds}
            of_clients = enumerate(getattr(self.trained.partition, name) if self.trained else ())
            yield from ((client, 0, value) for client, value in of_clients if client in present)
        else:
            yield from ((record.client, record.round, record_value(record, name)) for record in self.rounds)


@dataclass(frozen=True)
class Evidence:
    """All finished runs of a study, by sweep. A group of runs is named `sweep key=value ...`."""

    sweeps: Mapping[str, tuple[StudyRun, ...]]
    left_out: Collection[str] = ()  # sweeps that this scale does not run

    def runs(self, group: str) -> tuple[StudyRun, ...]:
        sweep, wanted = parse_group(group)
        if sweep not in self.sweeps:
            raise ConfigError([f"{group!r}: no sweep {sweep!r} in this study; {nearest(sweep, self.sweeps)}"])
        return tuple(
            run
            for run in self.sweeps[sweep]
            if all(str(run.factors.get(key)) == value for key, value in wanted.items())
        )

    def why_absent(self, group: str) -> str:
        """Why a group has no runs."""
        sweep, _ = parse_group(group)
        return f"this scale leaves the sweep {sweep!r} out" if sweep in self.left_out else f"no run of {group} finished"


def parse_group(group: str) -> tuple[str, dict[str, str]]:
    """`lambda method=v7` -> ("lambda", {"method": "v7"})"""
    sweep, *factors = group.split()
    return sweep, dict(factor.split("=", 1) for factor in factors)


def study_runs(members: Iterable[Finished]) -> tuple[StudyRun, ...]:
    """The finished ones among the members of a sweep."""
    return tuple(study_run(member, member.result) for member in members if member.result is not None)


def study_run(member: Finished, result: MemberResult) -> StudyRun:
    folder = RunFolder(member.folder)
    clients = folder.record.clients
    return StudyRun(
        member.name,
        member.factors,
        result.metrics.accuracy,
        result.fused,
        tuple(row for client in clients for row in client.rounds),
        tuple(row for client in clients for row in client.epochs),
        folder.result,
    )


def ratio(above: str, below: str) -> Callable[[ClientRecord], float | None]:
    """One recorded value over another; None where the lower one is zero."""

    def divided(record: ClientRecord) -> float | None:
        upper, lower = getattr(record, above), getattr(record, below)
        return upper / lower if lower and upper is not None else None

    return divided


def against_losses(name: str) -> Callable[[ClientRecord], float | None]:
    """A lambda over L_b / L_a."""

    def divided(record: ClientRecord) -> float | None:
        value = getattr(record, name)
        if value is None or record.align_loss is None or not record.base_loss:
            return None
        return float(value * record.align_loss / record.base_loss)

    return divided


DERIVED: dict[str, Callable[[ClientRecord], float | None]] = {
    "prototype_norm": lambda record: fmean(record.prototype_norms) if record.prototype_norms else None,
    "largest_prototype": lambda record: max(record.prototype_norms, default=None),
    "loss_ratio": ratio("base_loss", "align_loss"),
    "felt_over_loss_ratio": against_losses("lambda_felt"),
    "raw_over_loss_ratio": against_losses("lambda_raw"),
    "felt_over_rest": ratio("lambda_felt", "lambda_star"),
    "sigma_local_over_loss": ratio("sigma_sq_local", "base_loss"),
}


def record_value(record: ClientRecord, name: str) -> float | None:
    """None where the record does not hold the value, or held no finite number."""
    if name in DERIVED:
        return DERIVED[name](record)
    value: float | None = record.terms.get(name, getattr(record, name, None))
    return value
