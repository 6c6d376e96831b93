"""A run folder, read for a report."""

from pathlib import Path
from typing import Any

from mooring.config import load
from mooring.doctor import examine
from mooring.doctor.read_run import read_run as read_history
from mooring.errors import StoreError
from mooring.reports.book import Book, Run, labelled
from mooring.reports.folders.json_file import read_json
from mooring.store import read_events, read_result

AGAIN = "repeat the run with --again"
NEEDED = (
    "accuracy",
    "balanced_accuracy",
    "macro_f1",
    "calibration_error",
    "per_class_accuracy",
    "confusion",
    "rounds",
    "clients",
    "partition",
    "uploads",
    "dataset",
    "data_sha256",
    "fingerprint",
    "seeds",
)


def run_book(folder: Path) -> Book:
    if not (folder / "result.json").exists():
        raise StoreError(f"{folder}: this run is not finished", f"go on with: mooring resume {folder}")
    runs = labelled([read_run(folder, {}, "")])
    return Book("run", runs[0].experiment.label, runs, subtitle=runs[0].result["dataset"])


def read_run(folder: Path, factors: dict[str, str], sweep: str) -> Run:
    """Everything a report says of one run; a damaged folder is refused by name."""
    result = read_result(folder)
    missing = [name for name in NEEDED if name not in result]
    if missing:
        raise StoreError(f"{folder / 'result.json'}: {missing[0]} is missing", AGAIN)
    history = read_history(folder)
    (experiment,) = load(folder / "experiment.yaml")
    try:
        seconds, terms = ({}, {}) if result.get("imported") else training_of(folder)  # a log does not say
    except (KeyError, TypeError, AttributeError):
        raise StoreError(f"{folder / 'events.jsonl'}: a round is damaged", AGAIN) from None
    return Run(
        folder.name,
        experiment,
        result,
        history,
        examine(history),
        read_environment(folder),
        seconds,
        terms,
        tuple(read_fusions(folder)),
        factors,
        sweep,
    )


def training_of(folder: Path) -> tuple[dict[int, float], dict[int, dict[str, float]]]:
    """Every client's seconds over all rounds, and the parts of its L_b in the last one."""
    rounds = {
        (event["client"], event["round"]): event for event in read_events(folder) if event.get("event") == "round"
    }
    seconds: dict[int, float] = {}
    for (client, _), event in rounds.items():
        seconds[client] = seconds.get(client, 0.0) + event["seconds"]
    return seconds, {client: rounds[client, at]["terms"] for client, at in sorted(rounds)}


def read_environment(folder: Path) -> dict[str, Any]:
    path = folder / "environment.json"
    return read_json(path, AGAIN) if path.exists() else {}


def read_fusions(folder: Path) -> list[dict[str, Any]]:
    remedy = "remove the file and fuse again"
    rows = [(path, read_json(path, remedy)) for path in sorted((folder / "fusions").glob("*.json"))]
    for path, row in rows:
        if "accuracy" not in row or "settings" not in row:
            raise StoreError(f"{path}: is no result of mooring fuse", remedy)
    return [row for _, row in rows]
