"""A log as the events and the result of a run; what it does not tell is null."""

from typing import Any

from mooring.config.tree import Tree
from mooring.published import Logged, Said
from mooring.store import FORMAT

MEASURED = ("balanced_accuracy", "macro_f1", "calibration_error", "per_class_accuracy", "confusion")
SPREAD = ("sizes", "label_counts", "classes_per_client", "entropy", "normalised_entropy", "size_variation")


def events_of(logged: Logged) -> list[dict[str, Any]]:
    """Clients and fused accuracies, in the order of rounds."""
    _, fused = logged.server
    events = []
    for round_ in sorted({*logged.rounds, *fused}):
        for client in logged.clients:
            if said := logged.said.get((round_, client)):
                events.append({"time": None, "event": "round", "client": client, "round": round_, **traced(said)})
        if round_ in fused:
            accuracy = {"accuracy": fused[round_], "seconds": None}
            events.append({"time": None, "event": "fused", "round": round_, **accuracy})
    return events


def result_of(logged: Logged, tree: Tree, log: str, digest: str) -> dict[str, Any]:
    """What `result.json` says: the keys of a run, and where it was imported from."""
    server, fused = logged.server
    rounds = [row_of(logged, round_) for round_ in sorted(fused) or logged.rounds]
    planned = tree.get("training", {}).get("rounds")
    return {
        "format": FORMAT,
        "imported": True,
        "log": log,
        "log_sha256": digest,
        "server": server or None,  # which of its accuracies is shown
        "complete": None if planned is None else rounds[-1]["round"] + 1 == planned,
        "method": tree["method"],
        "dataset": tree.get("data", {}).get("source"),
        "data_sha256": None,
        "fingerprint": None,
        "seeds": {"training": tree.get("seed"), "split": None},
        "accuracy": rounds[-1]["accuracy"],
        **dict.fromkeys(MEASURED),
        "rounds": rounds,
        "clients": len(logged.clients),
        "absent": [],
        "partition": {
            "samples": logged.samples,
            "clients": len(logged.clients),
            **dict.fromkeys((*SPREAD, "overlap", "coverage", "sha256")),
        },
        "download_bytes": None,
        "uploads": [],
        "seconds": logged.seconds,
    }


def row_of(logged: Logged, round_: int) -> dict[str, Any]:
    clients = [
        {"client": client, **traced(said), "accuracy": said.accuracy}
        for client in logged.clients
        if (said := logged.said.get((round_, client)))
    ]
    measured = {"accuracy": logged.server[1].get(round_), **dict.fromkeys((*MEASURED, "server_seconds", "passes"))}
    return {"round": round_, **measured, "clients": clients}


def traced(said: Said) -> dict[str, Any]:
    """A log holds neither loss by itself: its one number is the sum of all terms over all batches."""
    return {
        "base_loss": None,
        "align_loss": None,
        "lambda_raw": said.raw,
        "lambda": said.felt,
        "lambda_star": None,
        "train_accuracy": said.train_accuracy,
        "sigma_local": said.sigma_local,
        "sigma_align": said.sigma_align,
    }
