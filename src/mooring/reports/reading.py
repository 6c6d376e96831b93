"""Folders on disk -> the data of a report: a run, a sweep of runs, and what an extension reads."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from mooring.config import HOUSE_CODE, Experiment, Trust, load_recorded, parse
from mooring.config.search import search_of
from mooring.config.tree import read_file
from mooring.doctor import case_of, examine
from mooring.errors import StoreError
from mooring.record import FusionRecord, RunFolder, read_fusion
from mooring.reports.labels import label_runs
from mooring.reports.report_data import NO_EXTENSION, Extension, ReportData, Run
from mooring.wording import unguarded


def run_book(folder: Path, trust: Trust) -> ReportData:
    if not RunFolder(folder).ended:
        raise StoreError(f"{folder}: this run is not finished", f"go on with: mooring resume {quote(str(folder))}")
    runs = label_runs([read_run(folder, {}, "", trust)])
    title = f"{runs[0].label} on {runs[0].dataset}"
    return ReportData("run", title, runs, subtitle=f"seed {runs[0].seed_text}", folder=str(folder))


def read_run(path: Path, factors: dict[str, str], sweep: str, trust: Trust) -> Run:
    """Everything a report says of one run; an imported one may be of a method or of data that nobody here knows."""
    folder = RunFolder(path)
    case = case_of(folder, trust)
    imported = folder.result.origin is not None
    return Run(
        path.name,
        None if imported else load_recorded(folder.experiment_file, trust),
        folder.result,
        case,
        examine(case),
        folder.environment,
        folder.fusions,
        factors,
        sweep,
        settings=read_file(folder.experiment_file) if imported else {},
    )


def read_fused(path: Path, factors: dict[str, str], runs: Iterable[Run], trust: Trust) -> Run | None:
    """The run that trained it, with the figures of this fusion; none if that run is not there."""
    row = read_fusion(path)
    trainer = next((run for run in runs if run.result.fingerprint == row.fingerprint), None)
    if trainer is None or trainer.experiment is None:
        return None
    last = replace(trainer.last, metrics=row.metrics)
    return replace(
        trainer,
        name=path.stem,
        experiment=fused_experiment(trainer.experiment, row, factors, trust),
        result=replace(trainer.result, accuracy=row.accuracy, rounds=(*trainer.result.rounds[:-1], last)),
        factors=factors,
        fusions=(),
        trained=False,
    )


def fused_experiment(trained: Experiment, row: FusionRecord, factors: dict[str, str], trust: Trust) -> Experiment:
    """What was trained, under the name and with the rule of this member."""
    tree = trained.tree()
    method = tree["method"] | {"name": factors.get("method", trained.name)}
    experiments = parse(tree | {"method": method | {"fusion": row.settings or method["fusion"]}}, trust)
    if len(experiments) > 1:
        raise StoreError(f"results.csv: method={method['name']} are several", "run the sweep again to write it anew")
    return experiments[0]


@dataclass(frozen=True)
class Sweep:
    """What a sweep has finished, in the order of its plan, and what it has not."""

    members: list[Run]
    unfinished: list[tuple[str, str]]
    baseline: str | None


def sweep_book(folder: Path, trust: Trust) -> ReportData:
    sweep = read_sweep(folder, "", trust)
    if not sweep.members:
        raise StoreError(f"{folder}: no run of this sweep has finished", "go on with the sweep, then report")
    title = folder.resolve().name
    baselines = {"": sweep.baseline} if sweep.baseline else {}
    return ReportData("sweep", title, label_runs(sweep.members), tuple(sweep.unfinished), baselines, folder=str(folder))


def read_sweep(folder: Path, name: str, trust: Trust) -> Sweep:
    """Every finished member with its factors; `name` tells the sweeps of a study apart."""
    path = folder / "sweep.yaml"
    tree = read_file(path)
    factors = tree.get("factors") or {}
    if not isinstance(factors, dict):
        raise StoreError(f"{path}: factors={factors!r} is no mapping", "write factors as key: [value, value]")
    baseline = tree.get("baseline")
    if baseline is not None and "=" not in str(baseline):
        raise StoreError(f"{path}: baseline={baseline!r} names no factor", "write baseline: method=v4, or null")
    search = search_of(tree.get("search"), str(path))
    varied = [*(search.space if search else ()), *map(str, factors)]
    rows = read_rows(folder / "results.csv")
    runs, unfinished = [], []
    for run in sorted(path.parent for path in (folder / "runs").glob("*/experiment.yaml")):
        row = rows.pop(run.name, {})
        if (run / "result.json").exists():
            runs.append(read_run(run, factor_cells(row, varied), name, trust))
        else:
            unfinished.append((run.name, row.get("status") or "unfinished"))
    fused = []
    for file in sorted((folder / "fused").glob("*.json")):
        if file.stem not in rows:
            unfinished.append((file.stem, "fused, and not in results.csv yet"))
            continue
        row = rows.pop(file.stem)
        if row.get("status", "finished") != "finished":
            unfinished.append((file.stem, row["status"]))
        elif member := read_fused(file, factor_cells(row, varied), runs, trust):
            fused.append(member)
        else:
            unfinished.append((file.stem, "the run that trained it is missing"))
    unfinished += [(run, row.get("status") or "its folder is missing") for run, row in rows.items()]
    return Sweep(ordered([*runs, *fused], factors), unfinished, None if baseline is None else str(baseline))


def factor_cells(row: dict[str, str], varied: list[str]) -> dict[str, str]:
    return {key: row[key] or "None" for key in varied if key in row}  # None is an empty cell


def read_rows(path: Path) -> dict[str, dict[str, str]]:
    """`results.csv` by run; nothing where there is none yet."""
    if not path.exists():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *lines = [[unguarded(cell) for cell in line] for line in csv.reader(file)] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StoreError(f"{path}: cannot be read ({error})", "run the sweep again to write it anew") from None
    rows = [dict(zip(head, line, strict=False)) for line in lines if line]
    for number, row in enumerate(rows, 2):
        if not row.get("run"):
            raise StoreError(f"{path}: line {number} names no run", "run the sweep again to write it anew")
    return {row["run"]: row for row in rows}


def ordered(runs: list[Run], factors: dict[str, Any]) -> list[Run]:
    """In the order in which the sweep names its values."""
    places = {key: [str(value) for value in values] for key, values in factors.items() if isinstance(values, list)}

    def place(run: Run) -> list[int]:
        return [
            values.index(run.factors[key]) if run.factors.get(key) in values else len(values)
            for key, values in places.items()
        ]

    return sorted(runs, key=place)


READERS = {"sweep.yaml": sweep_book, "result.json": run_book, "experiment.yaml": run_book}


def collect_report_data(folder: Path, trust: Trust = HOUSE_CODE, extension: Extension = NO_EXTENSION) -> ReportData:
    """What the folder holds, recognised by the file that only such a folder has."""
    readers = {**extension.readers, **READERS}
    for name, read in readers.items():
        if (folder / name).is_file():
            return read(folder, trust)
    raise StoreError(f"{folder}: holds nothing to report on", f"name a folder with one of {', '.join(readers)}")
