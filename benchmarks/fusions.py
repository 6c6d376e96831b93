"""What the server pays for each rule."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import torch

from benchmarks.process import apart
from benchmarks.table import Say, Table
from mooring import load, run_experiment
from mooring.execution import FinishedRun
from mooring.fusion import FUSIONS, CoBoosting, Dense, Fusion, Server, fuse
from mooring.types import Upload

RULES: dict[str, Fusion] = {kind: rule() for kind, rule in FUSIONS.items()} | {
    f"{rule.kind}, one lesson of {rule.lessons}": replace(
        rule, lessons=1, study=replace(rule.study, steps=rule.study.steps // rule.lessons)
    )
    for rule in (Dense(), CoBoosting())
}
SHORTENED = ("dense", "co-boosting")  # minutes in full


def measure(say: Say) -> Table:
    torch.set_num_threads(1)
    rows: list[tuple[object, ...]] = []
    with TemporaryDirectory() as folder:
        finished = trained(folder)
        uploads = finished.uploads(0)
        for name, rule in RULES.items():
            if name in SHORTENED:
                continue
            complete = [finished.completed(upload, rule.needs) for upload in uploads]
            seconds, _, growth = apart(fused, rule, complete, finished.server(rule), start="fork")
            rows.append((name, seconds, growth))
            say(f"{name}: {seconds:.2f} s")
    about = "Ten clients on the digits, from checked uploads to the predictor, on one core; memory beyond the uploads."
    return Table("Fusion: time and memory of every rule", about, ("fusion", "seconds", "MB"), rows)


def trained(folder: str) -> FinishedRun:
    (experiment,) = load(
        overrides=[
            *("method=v4", "partition.clients=10", "partition.alpha=0.5", "training.rounds=1"),
            *("training.local_epochs=1", "data.validation=0.1", "data.public_ratio=0.1", f"out={folder}/run"),
        ]
    )
    run_experiment(experiment)
    return FinishedRun.open(Path(folder) / "run")


def fused(rule: Fusion, uploads: list[Upload], server: Server) -> float:
    began = perf_counter()
    fuse(rule, uploads, server)
    return perf_counter() - began
