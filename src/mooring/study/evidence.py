"""What claims can ask: finished runs, by sweep and factors, and what each of them recorded of a client in a round."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from mooring.errors import ConfigError, nearest
from mooring.store import read_events, read_result

Record = Mapping[str, Any]  # an event
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
    def result(self) -> dict[str, Any] | None: ...


@dataclass(frozen=True)
class StudyRun:
    """One finished run: the accuracy of its fusion, and the records of the training behind it."""

    name: str
    factors: Mapping[str, Any]
    accuracy: float
    fused: Mapping[int, float] = field(default_factory=dict)  # by round; only the last for a fusion made afterwards
    rounds: tuple[Mapping[str, Any], ...] = ()  # events of clients
    epochs: tuple[Mapping[str, Any], ...] = ()
    trained: Mapping[str, Any] = field(default_factory=dict)  # result.json of the training

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

    def _values(self, name: str) -> Iterator[tuple[int, int, Any]]:
        if name in CONSTANTS:
            present = {record["client"] for record in self.rounds}
            of_clients = enumerate(self.trained.get("partition", {}).get(name, ()))
            yield from ((client, 0, value) for client, value in of_clients if client in present)
        elif name == "accuracy":
            for row in self.trained.get("rounds", ()):
                yield from ((own["client"], row["round"], own["accuracy"]) for own in row["clients"])
        else:
            yield from ((record["client"], record["round"], value_of(record, name)) for record in self.rounds)


@dataclass(frozen=True)
class Evidence:
    """All finished runs of a study. A group of them is named `sweep key=value ...`."""

    sweeps: Mapping[str, tuple[StudyRun, ...]]

    def runs(self, group: str) -> tuple[StudyRun, ...]:
        sweep, wanted = parsed(group)
        if sweep not in self.sweeps:
            raise ConfigError([f"{group!r}: no sweep {sweep!r} in this study; {nearest(sweep, self.sweeps)}"])
        return tuple(
            run
            for run in self.sweeps[sweep]
            if all(str(run.factors.get(key)) == value for key, value in wanted.items())
        )


def parsed(group: str) -> tuple[str, dict[str, str]]:
    """`lambda method=v7` -> ("lambda", {"method": "v7"})"""
    sweep, *factors = group.split()
    return sweep, dict(factor.split("=", 1) for factor in factors)


def gather(members: Iterable[Finished]) -> tuple[StudyRun, ...]:
    """The finished ones among the members of a sweep."""
    return tuple(read(member, member.result) for member in members if member.result is not None)


def read(member: Finished, result: Mapping[str, Any]) -> StudyRun:
    trained, events = read_result(member.folder), read_events(member.folder)
    own_rounds = result.get("rounds", ())
    fused = {row["round"]: row["accuracy"] for row in own_rounds} or {result.get("round", 0): result["accuracy"]}
    return StudyRun(
        member.name,
        member.factors,
        result["accuracy"],
        fused,
        tuple(event for event in events if event["event"] == "round"),
        tuple(event for event in events if event["event"] == "epoch"),
        trained,
    )


def ratio(above: str, below: str) -> Callable[[Record], float | None]:
    """One recorded value over another; None where the lower one is zero."""
    return lambda record: record[above] / record[below] if record.get(below) else None


DERIVED: dict[str, Callable[[Record], float | None]] = {
    "prototype_norm": lambda record: fmean(record["prototype_norms"]),
    "largest_prototype": lambda record: max(record["prototype_norms"]),
    "loss_ratio": ratio("base_loss", "align_loss"),
    "felt_over_loss_ratio": lambda record: record["lambda"] * record["align_loss"] / record["base_loss"],
    "raw_over_loss_ratio": lambda record: record["lambda_raw"] * record["align_loss"] / record["base_loss"],
    "felt_over_rest": ratio("lambda", "lambda_star"),
    "sigma_local_over_loss": ratio("sigma_sq_local", "base_loss"),
    "factor": ratio("lambda", "lambda_raw"),  # what annealing leaves of lambda
}


def value_of(record: Record, field: str) -> float | None:
    """None where the record does not hold the field, or held no finite number."""
    if field not in DERIVED:
        value: float | None = record.get(field, record.get("terms", {}).get(field))
        return value
    try:
        return DERIVED[field](record)
    except (KeyError, TypeError):
        return None
