"""A log as the events and the result of a run; what it does not tell is null."""

from collections.abc import Mapping

from mooring.config.tree import Tree
from mooring.events import ClientRecord, Event, Remark, SnapshotFused
from mooring.importing.logged import Logged, Said
from mooring.record import Metrics, Origin, Result, RoundRecord, Seeds, SiteRecord
from mooring.types import PartitionSummary

UNKNOWN = float("nan")
MOST_CLASSES = 10_000


def events_of(logged: Logged) -> list[Event]:
    """Clients and fused accuracies, in the order of rounds; then what was inferred."""
    _, fused = logged.server
    events: list[Event] = []
    for round_ in sorted({*logged.rounds, *fused}):
        events += rows_of(logged, round_)
        if round_ in fused:
            events.append(SnapshotFused(round_, fused[round_]))
    return [*events, *map(Remark, remarks(logged))]


def result_of(logged: Logged, tree: Tree, origin: Origin) -> Result:
    """What `result.json` says: as a run, and where it was imported from."""
    _, fused = logged.server
    rounds = tuple(round_of(logged, round_) for round_ in sorted(fused) or logged.rounds)
    planned = tree.get("training", {}).get("rounds")
    return Result(
        method=tree["method"],
        accuracy=rounds[-1].accuracy,
        rounds=rounds,
        partition=PartitionSummary(logged.samples, len(logged.clients)),
        seeds=Seeds(tree.get("seed"), None),
        complete=None if planned is None else rounds[-1].round + 1 == planned,
        dataset=tree.get("data", {}).get("source"),
        classes=classes_of(logged.section("dataset")),
        sites=tuple(SiteRecord(client, f"client {client}") for client in logged.clients),
        seconds=logged.seconds,
        origin=origin,
    )


def classes_of(data: Mapping[str, object]) -> tuple[str, ...]:
    """By number: a log does not name them."""
    count = data.get("num_classes")
    return tuple(map(str, range(count))) if type(count) is int and 0 < count <= MOST_CLASSES else ()


def round_of(logged: Logged, round_: int) -> RoundRecord:
    accuracy = logged.server[1].get(round_, UNKNOWN)
    return RoundRecord(round_, Metrics(accuracy), tuple(rows_of(logged, round_)))


def rows_of(logged: Logged, round_: int) -> list[ClientRecord]:
    """A log holds neither loss by itself: its one number is the sum of all terms over all batches."""
    return [row_of(client, round_, said) for client, said in logged.by_round.get(round_, {}).items()]


def row_of(client: int, round_: int, said: Said) -> ClientRecord:
    return ClientRecord(
        client,
        round_,
        lambda_raw=said.lambda_raw,
        schedule_factor=said.schedule_factor,
        lambda_felt=said.lambda_felt,
        sigma_sq_local=None if said.sigma_local is None else said.sigma_local * said.sigma_local,
        sigma_sq_align=None if said.sigma_align is None else said.sigma_align * said.sigma_align,
        train_accuracy=said.train_accuracy,
        accuracy=said.accuracy,
    )


def remarks(logged: Logged) -> tuple[str, ...]:
    found = ["a log holds no alignment loss: where L_a is named, it is inferred from lambda and sigma"]
    if logged.label and not logged.label.lower().endswith(logged.method):
        found.append(f"the log calls itself {logged.label}; by its content it is {logged.method}")
    if len(logged.fused) > 1:
        found.append(f"{len(logged.fused)} accuracies a round; this is '{logged.server[0]}'")
    return tuple(found)
