"""A run folder as a history: from its events, its result and its configuration."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

from mooring.config import Experiment, parse
from mooring.config.tree import read_file
from mooring.doctor.history import History, Moment, Patient, Setting
from mooring.doctor.read_log import read_log
from mooring.errors import StoreError
from mooring.fusion import FeatureEnsemble, Iffi
from mooring.losses import MeanSquared, SupCon
from mooring.store import LOG, read_events, read_result


def read_run(folder: Path) -> History:
    """Refused if the folder holds no finished run."""
    result = read_result(folder)
    if result.get("imported"):
        return read_imported(folder, str(result.get("log")))
    try:
        return history_of(folder, result)
    except (KeyError, TypeError, IndexError, AttributeError, StopIteration):
        raise StoreError(f"{folder}: its result or events are damaged", "repeat the run with --again") from None


def read_imported(folder: Path, log: str) -> History:
    """The log that the folder was made of is in it: its doctor is the doctor of logs."""
    history, *_ = read_log(folder / LOG)
    return replace(history, title=str(folder), remarks=(f"imported from {log}", *history.remarks))


def history_of(folder: Path, result: dict[str, Any]) -> History:
    """The history behind a result."""
    (experiment,) = parse(read_file(folder / "experiment.yaml"))
    rounds: dict[int, list[dict[str, Any]]] = defaultdict(list)
    starts: dict[int, dict[str, Any]] = {}
    failures: dict[int, str] = {}
    for event in read_events(folder):
        if event["event"] == "round":
            rounds[event["client"]].append(event)
        elif event["event"] == "start":
            starts[event["client"]] = event
        elif event["event"] == "failed":
            failures[event["client"]] = event["problem"]
    alone = {
        (row["round"], client["client"]): client["accuracy"] for row in result["rounds"] for client in row["clients"]
    }
    counts = result["partition"]["label_counts"]
    patients = [
        Patient(
            client,
            sum(labels),
            tuple(labels),
            starts.get(client, {}).get("align_loss"),
            tuple(moment(event, alone.get((event["round"], client))) for event in rounds[client]),
            failures.get(client),
        )
        for client, labels in enumerate(counts)
    ]
    norms = [event["prototype_norms"] for events in rounds.values() for event in events]
    if not norms and experiment.method.client.terms:
        raise StoreError(f"{folder}: events.jsonl records no round", "repeat the run with --again")
    dimension = starts[next(iter(rounds))]["dimension"] if starts and norms else None
    fused = {row["round"]: row["accuracy"] for row in result["rounds"]}
    return History(
        str(folder), experiment.label, tuple(patients), fused, setting_of(experiment, len(counts[0]), dimension)
    )


def moment(event: dict[str, Any], accuracy: float | None) -> Moment:
    raw, felt = event.get("lambda_raw"), event.get("lambda")
    return Moment(
        event["round"],
        event["steps"],
        event["base_loss"],
        event.get("align_loss"),
        raw,
        felt,
        event.get("lambda_star"),
        felt / raw if raw and felt is not None else None,
        accuracy,
        tuple(event["prototype_norms"]),
    )


def setting_of(experiment: Experiment, classes: int, dimension: int | None) -> Setting:
    client, training = experiment.method.client, experiment.training
    return Setting(
        client.align.weight if client.align else None,
        training.lr,
        training.momentum,
        training.batch_size,
        client.views.count,
        classes,
        dimension,
        mean_squared=client.align is not None and client.align.term == MeanSquared(),
        plain_mean=isinstance(experiment.method.fusion, FeatureEnsemble | Iffi),
        trains=bool(client.terms),
        supcon=any(term.kind == SupCon.kind for term in client.terms),
    )
