"""A study folder: study.json holds verdicts and tables, its subfolders are the sweeps behind them."""

from pathlib import Path

from mooring.errors import StoreError
from mooring.record import StudyRecord, read_study
from mooring.reports.book import Book, labelled
from mooring.reports.folders.sweep import read_sweep
from mooring.reports.table import Table
from mooring.types import ANSWERS


def study_book(folder: Path) -> Book:
    study = read_study(folder)
    for i, row in enumerate(study.verdicts):
        if row.verdict not in ANSWERS:
            raise StoreError(
                f"{folder / 'study.json'}: verdicts[{i}].verdict={row.verdict!r} is unknown",
                f"write one of {', '.join(ANSWERS)}",
            )
    members, unfinished, baselines = [], [], {}
    for name in study.sweeps:
        if not (folder / name / "sweep.yaml").is_file():
            unfinished.append((name, "the folder of this sweep is missing"))
            continue
        sweep = read_sweep(folder / name, name)
        members += sweep.members
        unfinished += [(f"{name}/{run}", why) for run, why in sweep.unfinished]
        if sweep.baseline:
            baselines[name] = sweep.baseline
    return Book(
        "study",
        study.title,
        labelled(members),
        tuple(unfinished),
        baselines,
        study.verdicts,
        (conditions(study), *tables(study)),
        " · ".join(part for part in (f"study {study.study}", study.note, f"scale: {study.scale}") if part),
        study.command,
    )


def conditions(study: StudyRecord) -> Table:
    """What the study asks, and under which conditions it has answered."""
    asked = {
        "question": study.about,
        "scale": ": ".join(part for part in (study.scale, study.scale_about) if part),
        "seeds": ", ".join(map(str, study.seeds)),
        "settings": " ".join(study.settings),
        "command": study.command,
    }
    return Table("study", "The study", ("what", "value"), tuple((what, text) for what, text in asked.items() if text))


def tables(study: StudyRecord) -> list[Table]:
    """Those of the note, documented beside measured; every row as wide as its header."""
    found = []
    for i, table in enumerate(study.tables, 1):
        for line, cells in enumerate(table.rows):
            if len(cells) != len(table.columns):
                raise StoreError(
                    f"study.json: tables[{i - 1}].rows[{line}] does not fill {len(table.columns)} columns",
                    "run the study again",
                )
        found.append(Table(f"study-{i}", table.title or f"Table {i}", table.columns, table.rows))
    return found
