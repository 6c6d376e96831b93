"""A run folder, read for a report; and what was only fused from the uploads of one."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from shlex import quote

from mooring.config import Experiment, load, parse
from mooring.doctor import case_of, examine
from mooring.errors import StoreError
from mooring.record import FusionRecord, RunFolder, read_fusion
from mooring.reports.book import Book, Run, labelled


def run_book(folder: Path) -> Book:
    if not RunFolder(folder).ended:
        raise StoreError(f"{folder}: this run is not finished", f"go on with: mooring resume {quote(str(folder))}")
    runs = labelled([read_run(folder, {}, "")])
    return Book("run", runs[0].experiment.label, runs, subtitle=str(runs[0].result.dataset))


def read_run(path: Path, factors: dict[str, str], sweep: str) -> Run:
    """Everything a report says of one run."""
    folder = RunFolder(path)
    case = case_of(folder)
    (experiment,) = load(folder.experiment_file)
    return Run(
        path.name, experiment, folder.result, case, examine(case), folder.environment, folder.fusions, factors, sweep
    )


def read_fused(path: Path, factors: dict[str, str], runs: Iterable[Run]) -> Run | None:
    """The run that trained it, with the figures of this fusion; none if that run is not there."""
    row = read_fusion(path)
    trainer = next((run for run in runs if run.result.fingerprint == row.fingerprint), None)
    if trainer is None:
        return None
    last = replace(trainer.last, metrics=row.metrics)
    return replace(
        trainer,
        name=path.stem,
        experiment=fused_experiment(trainer.experiment, row, factors),
        result=replace(trainer.result, accuracy=row.accuracy, rounds=(*trainer.result.rounds[:-1], last)),
        factors=factors,
        fusions=(),
        trained=False,
    )


def fused_experiment(trained: Experiment, row: FusionRecord, factors: dict[str, str]) -> Experiment:
    """What was trained, under the name and with the rule of this member."""
    tree = trained.tree()
    method = tree["method"] | {"name": factors.get("method", trained.name)}
    (experiment,) = parse(tree | {"method": method | {"fusion": row.settings or method["fusion"]}})
    return experiment
