"""Folders on disk -> a book: a run, a sweep of runs, a study of sweeps."""

from pathlib import Path

from mooring.errors import StoreError
from mooring.reports.book import Book
from mooring.reports.folders.run import run_book
from mooring.reports.folders.study import study_book
from mooring.reports.folders.sweep import sweep_book

READERS = {"study.json": study_book, "sweep.yaml": sweep_book, "result.json": run_book, "experiment.yaml": run_book}


def gather(folder: Path) -> Book:
    """What the folder holds, told by the file that only such a folder has."""
    for name, read in READERS.items():
        if (folder / name).is_file():
            return read(folder)
    raise StoreError(f"{folder}: holds no run, sweep or study", f"name a folder with one of {', '.join(READERS)}")


__all__ = ["gather"]
