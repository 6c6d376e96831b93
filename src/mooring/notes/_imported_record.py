"""Events and result of a run from its log. Missing values are None; inferred values are listed."""

from collections.abc import Mapping
from hashlib import sha256

from mooring.events import ClientRecord, Event, Remark, SnapshotFused
from mooring.notes._identify import version_of
from mooring.notes._logged import LogEntry, Logged
from mooring.notes._translation import json_value
from mooring.notes._variants import Identified
from mooring.record import ImportedResult, Metrics, Origin, RoundRecord, Seeds, SiteRecord
from mooring.schema import Tree
from mooring.types import PartitionSummary

UNKNOWN = float("nan")
MOST_CLASSES = 10_000
FELT_RAW = "the raw lambda: the published code gave it to the weights"
FELT_ANNEALED = "the annealing factor times the raw lambda"
SET = ("v7", "v9", "v9-fixed", "v9-server-optimised", "v6-drcl", "v8")  # their lambda is set, and printed as it is set
NO_LOSS = "a log holds no alignment loss: where L_a is named, it is inferred from lambda and sigma"


def events_of(logged: Logged, identified: Identified) -> list[Event]:
    """Clients and fused accuracies, in the order of rounds; then remarks for the reader."""
    _, fused = logged.server
    events: list[Event] = []
    for round_ in sorted({*logged.rounds, *fused}):
        events += rows_of(logged, identified, round_)
        if round_ in fused:
            events.append(SnapshotFused(round_, fused[round_]))
    return [*events, *map(Remark, remarks(logged, identified))]


def origin_of(logged: Logged, identified: Identified, log: str) -> Origin:
    config = json_value(logged.config)
    assert isinstance(config, dict)
    return Origin(
        log,
        sha256(logged.text.encode()).hexdigest(),
        logged.server[0] or None,
        identified.version,
        identified.known,
        identified.evidence,
        inferred(logged, identified),
        tuple(logged.client_facts.values()),
        {name: dict(by_round) for name, by_round in logged.fused.items()},
        logged.not_finite,
        config,
    )


def inferred(logged: Logged, identified: Identified) -> dict[str, str]:
    """Fields of the clients' records that no line prints, and how they were computed."""
    if not any(said.lambda_raw is not None for said in logged.said.values()):
        return {}
    if logged.marks.factors:
        return {"lambda_felt": FELT_ANNEALED} if identified.version == "V11" else {}
    return {"lambda_felt": FELT_RAW}


def result_of(logged: Logged, identified: Identified, tree: Tree, origin: Origin) -> ImportedResult:
    """The content of `result.json`."""
    _, fused = logged.server
    rounds = tuple(round_of(logged, identified, round_) for round_ in sorted(fused) or logged.rounds)
    planned = tree["training"]["rounds"]
    return ImportedResult(
        method=identified.method,
        accuracy=rounds[-1].accuracy,
        rounds=rounds,
        partition=partition_of(logged),
        seeds=Seeds(tree["seed"] if type(tree["seed"]) is int else None, None),
        complete=None if planned is None else rounds[-1].round + 1 == planned,
        dataset=name_of(tree["data"]["source"]),
        classes=classes_of(logged.section("dataset")),
        sites=tuple(SiteRecord(client, f"client {client}") for client in logged.clients),
        seconds=logged.seconds,
        origin=origin,
    )


def name_of(value: object) -> str | None:
    """A name as text; a log may hold anything."""
    return None if value is None else str(value)


def partition_of(logged: Logged) -> PartitionSummary:
    """Entropies only if the log prints them for every client, because they are listed in the order of clients."""
    clients = [logged.client_facts.get(client) for client in logged.clients]
    entropy = [client.entropy for client in clients if client and client.entropy is not None]
    share = [client.normalised_entropy for client in clients if client and client.normalised_entropy is not None]
    return PartitionSummary(
        logged.samples,
        len(logged.clients) or configured_clients(logged),
        entropy=tuple(entropy) if len(entropy) == len(clients) else (),
        normalised_entropy=tuple(share) if len(share) == len(clients) else (),
    )


def configured_clients(logged: Logged) -> int:
    count = logged.section("client").get("num_clients")
    return count if type(count) is int and 0 < count <= MOST_CLASSES else 0


def classes_of(data: Mapping[str, object]) -> tuple[str, ...]:
    """Numbers, because a log does not name its classes."""
    count = data.get("num_classes")
    return tuple(map(str, range(count))) if type(count) is int and 0 < count <= MOST_CLASSES else ()


def round_of(logged: Logged, identified: Identified, round_: int) -> RoundRecord:
    accuracy = logged.server[1].get(round_, UNKNOWN)
    return RoundRecord(round_, Metrics(accuracy), tuple(rows_of(logged, identified, round_)))


def rows_of(logged: Logged, identified: Identified, round_: int) -> list[ClientRecord]:
    """The records of a round. They hold no losses: a log prints only the sum of all terms over all batches."""
    factors = logged.marks.factors
    sets, anneals = identified.method in SET, identified.version == "V11"
    found = []
    for client, said in logged.by_round.get(round_, {}).items():
        raw = said.lambda_raw if said.lambda_raw is not None else said.lambda_set if sets else None
        found.append(client_record(client, round_, said, raw, felt(said, factors, anneals)))
    return found


def felt(said: LogEntry, factors: bool, anneals: bool) -> float | None:
    """The effective lambda, if it was learned; a log does not print how far a fixed lambda was annealed."""
    if said.lambda_raw is None or not factors:
        return said.lambda_raw
    return said.schedule_factor * said.lambda_raw if anneals and said.schedule_factor is not None else None


def client_record(client: int, round_: int, said: LogEntry, raw: float | None, felt: float | None) -> ClientRecord:
    return ClientRecord(
        client,
        round_,
        lambda_raw=raw,
        schedule_factor=said.schedule_factor,
        lambda_felt=felt,
        sigma_sq_local=None if said.sigma_local is None else said.sigma_local * said.sigma_local,
        sigma_sq_align=None if said.sigma_align is None else said.sigma_align * said.sigma_align,
        train_accuracy=said.train_accuracy,
        accuracy=said.accuracy,
        lambda_printed=said.lambda_printed,
    )


def remarks(logged: Logged, identified: Identified) -> tuple[str, ...]:
    found = [NO_LOSS, f"{identified.method} ({identified.known}): {'; '.join(identified.evidence)}"]
    headers = logged.marks.headers
    if headers and identified.version and version_of(headers[0]) != identified.version:
        found.append(
            f"the log calls itself {headers[0].text.split()[0].strip(':')}; by its lines it is {identified.method}"
        )
    found += [f"{name} is inferred: {how}" for name, how in inferred(logged, identified).items()]
    if any(said.lambda_printed is not None for said in logged.said.values()):
        found.append("'truly effective' lambda is kept as lambda_printed: the published code never used it")
    if identified.method == "v4" and any(said.lambda_set is not None for said in logged.said.values()):
        found.append("V4 prints lambda_align_initial and does not use it")
    if len(logged.fused) > 1:
        found.append(f"{len(logged.fused)} accuracies a round; this is '{logged.server[0]}'")
    if logged.configured != "read":
        why = "is not in the log" if logged.configured == "missing" else f"cannot be read: {logged.configured}"
        found.append(f"the configuration {why}; settings that no other line prints are null")
    if logged.not_finite:
        first = logged.not_finite[0]
        where = "" if first.client is None else f"client {first.client}, "
        text = f"first {first.quantity} = {first.value} ({where}round {first.round})"
        found.append(f"{len(logged.not_finite)} numbers are not finite, {text}")
    return (*found, *logged.left_out)
