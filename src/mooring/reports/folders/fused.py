"""A member of a sweep that was only fused: its figures, and the run that trained it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mooring.config import Experiment, parse
from mooring.errors import StoreError
from mooring.reports.book import Run
from mooring.reports.folders.json_file import read_json
from mooring.sweep.tables import METRICS

AGAIN = "remove the file and go on with the sweep"


def read_fused(path: Path, factors: dict[str, str], runs: Iterable[Run]) -> Run | None:
    """The run that trained it, with the figures of this fusion; none if that run is not there."""
    row = read_json(path, AGAIN)
    for name in (*METRICS, "fingerprint"):
        if name not in row:
            raise StoreError(f"{path}: {name} is missing", AGAIN)
    trainer = next((run for run in runs if run.result["fingerprint"] == row["fingerprint"]), None)
    if trainer is None:
        return None
    return replace(
        trainer,
        name=path.stem,
        experiment=fused_experiment(trainer.experiment, row, factors),
        result=trainer.result | {name: row[name] for name in METRICS},
        factors=factors,
        fusions=(),
        trained=False,
    )


def fused_experiment(trained: Experiment, row: dict[str, Any], factors: dict[str, str]) -> Experiment:
    """What was trained, under the name and with the rule of this member."""
    tree = trained.tree()
    method = tree["method"] | {"name": factors.get("method", trained.name)}
    (experiment,) = parse(tree | {"method": method | {"fusion": row.get("settings", method["fusion"])}})
    return experiment
