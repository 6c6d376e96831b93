"""The data behind claims: finished runs by sweep and factors, and the values that each recorded."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import fmean

from mooring.errors import ConfigError, nearest
from mooring.events import ClientRecord
from mooring.record import Result, RunFolder, RunRecord, with_result
from mooring.sweeps import Member

Trace = dict[int, dict[int, float]]  # client -> round -> value
CONSTANTS = ("entropy", "normalised_entropy", "sizes", "classes_per_client")  # of a client, known before it trains


def trace(run: RunRecord, name: str) -> Trace:
    """A recorded value by client and round; `accuracy` is the accuracy of the client's own model on the test images."""
    found: Trace = {}
    for client, round_, value in recorded_values(run, name):
        if value is not None:
            found.setdefault(client, {})[round_] = float(value)
    return found


def recorded_values(run: RunRecord, name: str) -> Iterator[tuple[int, int, float | None]]:
    if name in CONSTANTS:
        present = {record.client for record in run.rounds}
        of_clients = enumerate(getattr(run.result.partition, name) if run.result else ())
        yield from ((client, 0, value) for client, value in of_clients if client in present)
    else:
        yield from ((record.client, record.round, record_value(record, name)) for record in run.rounds)


@dataclass(frozen=True)
class Evidence:
    """All finished runs of a study, by sweep. A group of runs is named `sweep key=value ...`."""

    sweeps: Mapping[str, tuple[RunRecord, ...]]
    left_out: Collection[str] = ()  # sweeps that this scale does not run

    def runs(self, group: str) -> tuple[RunRecord, ...]:
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


def study_runs(members: Iterable[Member]) -> tuple[RunRecord, ...]:
    """The finished ones among the members of a sweep."""
    return tuple(study_run(member, result) for member in members if (result := member.result) is not None)


def study_run(member: Member, result: Result) -> RunRecord:
    """The result of the member's own fusion, with the history of its training."""
    record = with_result(RunFolder(member.folder).record, result)
    return replace(record, name=member.name, factors=member.factors)


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
