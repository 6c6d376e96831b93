"""A run folder in use: locked, and written by one process alone."""

import fcntl
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from time import time
from typing import Any

from mooring.errors import StoreError
from mooring.store.environment import environment
from mooring.store.files import strict_json, write_atomically
from mooring.store.uploads import read_upload, write_upload
from mooring.types import Event, Upload


class RunStore:
    """One run folder, held open by one process."""

    def __init__(self, folder: Path, events: RawIOBase) -> None:
        self.folder = folder
        self._events = events

    def record(self, event: Event) -> None:
        still_there(self.folder)
        line = strict_json({"time": time(), "event": event.name, **event.fields}) + "\n"
        append(self._events, line, self.folder)

    def save_upload(self, payload: Upload) -> dict[str, object]:
        """Write one upload; what `result.json` says of it."""
        still_there(self.folder)
        return write_upload(self.folder, payload)

    def load_upload(self, record: Mapping[str, Any]) -> Upload:
        return read_upload(self.folder, record)

    def finish(self, result: Mapping[str, object]) -> None:
        still_there(self.folder)
        write_atomically(self.folder / "result.json", (strict_json(result, indent=1) + "\n").encode())


@contextmanager
def opened(folder: Path, experiment_yaml: str, going_on: bool = False) -> Iterator[RunStore]:
    """A run folder, locked for as long as the block lasts; what was in it is removed unless the run goes on."""
    with locked(folder):
        ours = (folder / "experiment.yaml").exists()
        foreign = [path.name for path in folder.iterdir() if path.name != ".lock"]
        if foreign and not ours:
            raise StoreError(f"out={folder}: holds {foreign[0]!r} and no run", "choose an empty folder with out=...")
        if not going_on:
            for name in ("events.jsonl", "result.json"):
                (folder / name).unlink(missing_ok=True)
            for name in ("uploads", "fusions", "state"):
                shutil.rmtree(folder / name, ignore_errors=True)
        write_atomically(folder / "experiment.yaml", experiment_yaml.encode())
        write_atomically(folder / "environment.json", (strict_json(environment(), indent=1) + "\n").encode())
        with (folder / "events.jsonl").open("ab", buffering=0) as events:
            if events.tell():
                append(events, "\n", folder)  # the last line may have been cut off by a crash
            yield RunStore(folder, events)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder, for this process alone; the lock ends with the process, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise StoreError(
            f"out={folder}: cannot be written ({error.strerror})", "choose another folder with out=..."
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(
                f"out={folder}: another run is using this folder", "wait for it or choose another folder with out=..."
            ) from None
        yield


def in_use(folder: Path) -> bool:
    """Is a process working in this folder right now?"""
    try:
        with (folder / ".lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def still_there(folder: Path) -> None:
    """A folder that was removed under a run is not silently made again, half of it missing."""
    if not folder.is_dir():
        raise StoreError(f"out={folder}: was removed while the run was using it", "start the run again")


def append(events: RawIOBase, line: str, folder: Path) -> None:
    data = line.encode()
    try:
        written = events.write(data)
    except OSError as error:
        raise StoreError(
            f"{folder / 'events.jsonl'}: cannot be written ({error.strerror})",
            "free some space, then start the run again: it goes on where it was",
        ) from None
    if written != len(data):
        raise StoreError(
            f"{folder / 'events.jsonl'}: cannot be written (no space left)",
            "free some space, then start the run again: it goes on where it was",
        )


def discard_states(folder: Path) -> int:
    """Remove the states of a run; how many bytes that were."""
    states = [path for path in (folder / "state").glob("*") if path.is_file()]
    nbytes = sum(path.stat().st_size for path in states)
    shutil.rmtree(folder / "state", ignore_errors=True)
    return nbytes
