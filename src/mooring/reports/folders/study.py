"""A study folder: study.json holds verdicts and tables, its subfolders are the sweeps behind them."""

from pathlib import Path
from typing import Any

from mooring.errors import StoreError
from mooring.reports.book import Book, DecidedClaim, labelled
from mooring.reports.folders.json_file import read_json
from mooring.reports.folders.sweep import read_sweep
from mooring.reports.table import Table
from mooring.types import ANSWERS

AGAIN = "run the study again"


def study_book(folder: Path) -> Book:
    path = folder / "study.json"
    study = read_json(path, AGAIN)
    members, unfinished, baselines = [], [], {}
    for name in listed(path, study, "sweeps"):
        if not (folder / str(name) / "sweep.yaml").is_file():
            unfinished.append((str(name), "the folder of this sweep is missing"))
            continue
        sweep = read_sweep(folder / str(name), str(name))
        members += sweep.members
        unfinished += [(f"{name}/{run}", why) for run, why in sweep.unfinished]
        if sweep.baseline:
            baselines[str(name)] = sweep.baseline
    about = [f"study {study['study']}" if study.get("study") else "", study.get("note"), scale(study)]
    return Book(
        "study",
        str(study.get("title") or folder.resolve().name),
        labelled(members),
        tuple(unfinished),
        baselines,
        tuple(claim(path, i, row) for i, row in enumerate(listed(path, study, "verdicts"))),
        (*conditions(study), *(table(path, i, row) for i, row in enumerate(listed(path, study, "tables")))),
        " · ".join(str(part) for part in about if part),
        told(study.get("command")),
    )


def scale(study: dict[str, Any]) -> str:
    return f"scale: {study['scale']}" if study.get("scale") else ""


def conditions(study: dict[str, Any]) -> tuple[Table, ...]:
    """What the study asks, and under which conditions it has answered."""
    asked = {
        "question": told(study.get("about")),
        "scale": ": ".join(part for part in (told(study.get("scale")), told(study.get("scale_about"))) if part),
        "seeds": words(study.get("seeds"), ", "),
        "settings": words(study.get("settings"), " "),
        "command": told(study.get("command")),
    }
    rows = tuple((what, text) for what, text in asked.items() if text)
    return (Table("study", "The study", ("what", "value"), rows),) if rows else ()


def words(values: Any, between: str) -> str:
    return between.join(map(str, values)) if isinstance(values, list) else told(values)


def listed(path: Path, study: dict[str, Any], key: str) -> list[Any]:
    """A list that may be absent."""
    value = study.get(key) or []
    if not isinstance(value, list):
        raise StoreError(f"{path}: {key}={value!r} is no list", AGAIN)
    return value


def claim(path: Path, i: int, row: Any) -> DecidedClaim:
    """One verdict; its claim and its verdict are needed, the rest is told where it is known."""
    if not isinstance(row, dict) or not row.get("claim"):
        raise StoreError(f"{path}: verdicts[{i}].claim is missing", AGAIN)
    if row.get("verdict") not in ANSWERS:
        raise StoreError(
            f"{path}: verdicts[{i}].verdict={row.get('verdict')!r} is unknown", f"write one of {', '.join(ANSWERS)}"
        )
    rest = {key: told(row.get(key)) for key in ("phrase", "where", "documented", "measured", "reason", "remark")}
    return DecidedClaim(id=told(row.get("id")) or str(i + 1), claim=str(row["claim"]), verdict=row["verdict"], **rest)


def told(value: Any) -> str:
    return "" if value is None else str(value)


def table(path: Path, i: int, row: Any) -> Table:
    """One table of a study; every row as wide as its header."""
    if not isinstance(row, dict) or not isinstance(row.get("columns"), list) or not isinstance(row.get("rows"), list):
        raise StoreError(f"{path}: tables[{i}] needs columns and rows", AGAIN)
    columns = tuple(str(column) for column in row["columns"])
    for line, cells in enumerate(row["rows"]):
        if not isinstance(cells, list) or len(cells) != len(columns):
            raise StoreError(f"{path}: tables[{i}].rows[{line}] does not fill {len(columns)} columns", AGAIN)
    rows = tuple(tuple(plain(cell) for cell in cells) for cells in row["rows"])
    return Table(f"study-{i + 1}", str(row.get("title") or f"Table {i + 1}"), columns, rows, told(row.get("note")))


def plain(cell: Any) -> str | int | float | None:
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)
