"""A run folder in use: written by one process alone, all of it or nothing, nothing pickled."""

import os
import platform
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from io import FileIO
from pathlib import Path
from time import time

from mooring.errors import StoreError, UserCodeError
from mooring.events import Event
from mooring.record._client_files import write_upload
from mooring.record._events import EVENTS, TimedEvent, event_line, header
from mooring.record._files import (
    LOCK,
    Unsynced,
    is_draft,
    locked,
    reject_links,
    require_folder,
    sweep_drafts,
    write_atomically,
    write_json,
)
from mooring.record._folder import (
    ENCODER_FILE,
    ENVIRONMENT,
    EXPERIMENT,
    LOG_FILE,
    MODEL_FILE,
    RESULT,
    RunFolder,
    write_result,
)
from mooring.record._result import Environment, ImportedResult, Origin, Result, Settings, UploadRecord
from mooring.record._run import RunRecord, run_record
from mooring.types import Upload
from mooring.uploads import Pieces
from mooring.user_code import explaining
from mooring.version import VERSION

ERROR_FILE = "error.txt"


@contextmanager
def user_errors_kept(folder: Path) -> Iterator[None]:
    """Within this, an error in the user's code is reported in one line, and its traceback is kept in this folder.

    Nothing is written before the folder is there: a run that never began leaves nothing behind.
    """
    try:
        with explaining():
            yield
    except UserCodeError as error:
        if not error.trace or not folder.is_dir():
            raise
        write_atomically(folder / ERROR_FILE, error.trace.encode())
        remedy = f"the whole traceback is in '{folder / ERROR_FILE}'"
        raise UserCodeError(error.problem, remedy, error.trace) from error


VERSIONED = ("torch", "numpy", "scipy", "scikit-learn", "safetensors")


@dataclass(frozen=True)
class RunWriter:
    """One run folder, held open by one process."""

    folder: RunFolder
    events: FileIO
    unsynced: Unsynced = field(default_factory=Unsynced)

    @property
    def path(self) -> Path:
        return self.folder.path

    def record(self, event: Event) -> None:
        require_folder(self.path)
        append(self.events, event_line(event, time()), self.path)

    def save_upload(self, upload: Upload) -> UploadRecord:
        require_folder(self.path)
        return write_upload(self.path, upload, self.unsynced)

    def save_model(self, data: Pieces) -> None:
        require_folder(self.path)
        write_atomically(self.path / MODEL_FILE, data, self.path)

    def finish(self, result: Result) -> Result:
        """Write the answer; as it was written."""
        require_folder(self.path)
        self.unsynced.add(self.path / EVENTS)
        self.unsynced.sync()
        return write_result(self.path, result)


@contextmanager
def open_run_folder(path: Path, experiment_yaml: str, going_on: bool = False) -> Iterator[RunWriter]:
    """A run folder, locked for as long as the block lasts; what was in it is removed unless the run goes on."""
    with locked(path):
        reject_links(
            path,
            EXPERIMENT,
            ENVIRONMENT,
            EVENTS,
            RESULT,
            MODEL_FILE,
            ENCODER_FILE,
            ERROR_FILE,
            "uploads",
            "fusions",
            "state",
        )
        ours = (path / EXPERIMENT).exists()
        foreign = [file.name for file in path.iterdir() if file.name != LOCK and not is_draft(file)]
        if foreign and not ours:
            raise StoreError(f"out={path}: holds {foreign[0]!r} and no run", "choose an empty folder with out=...")
        for name in (RESULT, MODEL_FILE, ERROR_FILE):  # of a run in which clients failed, if it goes on
            (path / name).unlink(missing_ok=True)
        sweep_drafts(path)
        if not going_on:
            for name in (EVENTS, ENCODER_FILE):
                (path / name).unlink(missing_ok=True)
            for name in ("uploads", "fusions", "state"):
                shutil.rmtree(path / name, ignore_errors=True)
        write_atomically(path / EXPERIMENT, experiment_yaml.encode())
        write_json(path / ENVIRONMENT, environment())
        with (path / EVENTS).open("ab", buffering=0) as events:
            append(events, f"\n{header()}" if events.tell() else header(), path)  # a crash may have cut the last line
            writer = RunWriter(RunFolder(path), events)
            try:
                yield writer
            finally:
                writer.unsynced.sync()


def environment() -> Environment:
    """This machine and what is installed on it."""
    return Environment(
        platform.python_version(),
        {"mooring": VERSION, **{package: installed(package) for package in VERSIONED}},
        platform.system(),
        platform.machine(),
        os.cpu_count(),
    )


def installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def append(events: FileIO, line: str, folder: Path) -> None:
    data = line.encode()
    try:
        written = events.write(data)
    except OSError as error:
        raise StoreError(
            f"{folder / EVENTS}: cannot be written ({error.strerror})",
            "free some space, then start the run again: it goes on where it was",
        ) from None
    if written != len(data):
        raise StoreError(
            f"{folder / EVENTS}: cannot be written (no space left)",
            "free some space, then start the run again: it goes on where it was",
        )


@dataclass(frozen=True)
class Imported:
    """What goes into the folder."""

    log: str
    experiment_yaml: str
    settings: Settings  # the same as a tree
    events: Sequence[Event]
    result: ImportedResult

    @property
    def record(self) -> RunRecord:
        """As if it were read from its folder."""
        return run_record(self.result.origin.log, [TimedEvent(None, event) for event in self.events], self.result)


def write_imported(folder: Path, imported: Imported) -> ImportedResult:
    """Write everything, the result last, and return the result as it was written.

    The same log may be imported again; a folder with anything else in it is an error.
    """
    with locked(folder):
        reject_foreign(folder, imported.result.origin)
        write_atomically(folder / LOG_FILE, imported.log.encode())
        write_atomically(folder / EXPERIMENT, imported.experiment_yaml.encode())
        lines = [header(), *(event_line(event, None) for event in imported.events)]
        write_atomically(folder / EVENTS, "".join(lines).encode())
        return write_result(folder, imported.result)


def reject_foreign(folder: Path, origin: Origin) -> None:
    """An import that was interrupted left a log and no result."""
    here = RunFolder(folder)
    earlier = here.result.origin if here.ended else None
    mine = (earlier is not None and earlier.sha256 == origin.sha256) if here.ended else (folder / LOG_FILE).exists()
    other = [path.name for path in sorted(folder.iterdir()) if path.name != LOCK]
    if other and not mine:
        raise StoreError(f"out={folder}: holds {other[0]!r} of something else", "choose an empty folder with out=...")
