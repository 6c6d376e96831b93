"""A sweep folder: sweep.yaml says what varies, results.csv which run is which, runs/ and fused/ what came out."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mooring.config.search import search_of
from mooring.config.tree import read_file
from mooring.errors import StoreError
from mooring.reports.book import Book, Run, labelled
from mooring.reports.folders.run import read_fused, read_run


@dataclass(frozen=True)
class Sweep:
    """What a sweep has finished, in the order of its plan, and what it has not."""

    members: list[Run]
    unfinished: list[tuple[str, str]]
    baseline: str | None


def sweep_book(folder: Path) -> Book:
    sweep = read_sweep(folder, "")
    if not sweep.members:
        raise StoreError(f"{folder}: no run of this sweep has finished", "go on with the sweep, then report")
    title = folder.resolve().name
    baselines = {"": sweep.baseline} if sweep.baseline else {}
    return Book("sweep", title, labelled(sweep.members), tuple(sweep.unfinished), baselines)


def read_sweep(folder: Path, name: str) -> Sweep:
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
            runs.append(read_run(run, chosen(row, varied), name))
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
        elif member := read_fused(file, chosen(row, varied), runs):
            fused.append(member)
        else:
            unfinished.append((file.stem, "the run that trained it is missing"))
    unfinished += [(run, row.get("status") or "its folder is missing") for run, row in rows.items()]
    return Sweep(ordered([*runs, *fused], factors), unfinished, None if baseline is None else str(baseline))


def chosen(row: dict[str, str], varied: list[str]) -> dict[str, str]:
    return {key: row[key] or "None" for key in varied if key in row}  # None is an empty cell


def read_rows(path: Path) -> dict[str, dict[str, str]]:
    """`results.csv` by run; nothing where there is none yet."""
    if not path.exists():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StoreError(f"{path}: cannot be read ({error})", "run the sweep again to write it anew") from None
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
