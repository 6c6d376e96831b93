"""How everything is written: all of it or nothing, by one process at a time, into a folder that is still there."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from mooring.errors import StoreError
from mooring.record._json import MalformedRecordError, from_tree, strict_json

T = TypeVar("T")


def write_atomically(path: Path, data: bytes) -> None:
    """All of it or nothing: a reader never sees half a file, and neither does a crash or a loss of power."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        _keep_name(path.parent)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: cannot be written ({error.strerror})", "free some space or choose another out=..."
        ) from None


def write_json(path: Path, value: object) -> None:
    """A record, or plain values, as people read it."""
    write_atomically(path, (strict_json(value, indent=1) + "\n").encode())


def read_json(path: Path, remedy: str) -> object:
    """What a JSON file says."""
    try:
        tree: object = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", remedy) from None
    except (ValueError, RecursionError):
        raise StoreError(f"{path}: is not valid JSON", remedy) from None
    return tree


def as_record(kind: type[T], tree: object, path: Path, remedy: str) -> T:
    """A record of this kind; what is wrong with it is told with the file and the field."""
    try:
        record: T = from_tree(kind, tree)
    except MalformedRecordError as error:
        raise StoreError(f"{path}: {error}", remedy) from None
    return record


def _keep_name(folder: Path) -> None:
    """A renamed file survives a loss of power only when its folder is on disk too; Windows cannot be asked to."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


LOCK = ".lock"
PATIENCE = 1.0  # seconds for which a lock is asked for: somebody may only be looking whether it is taken


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder, for this process alone; the lock ends with the process, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        lock.acquire(timeout=PATIENCE)
    except Timeout:
        raise StoreError(
            f"out={folder}: another run is using this folder", "wait for it or choose another folder with out=..."
        ) from None
    except OSError as error:
        raise StoreError(
            f"out={folder}: cannot be written ({error.strerror})", "choose another folder with out=..."
        ) from None
    try:
        yield
    finally:
        lock.release()


def in_use(folder: Path) -> bool:
    """Is a process working in this folder right now?"""
    if not (folder / LOCK).exists():
        return False
    try:
        with FileLock(folder / LOCK).acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def still_there(folder: Path) -> None:
    """A folder that was removed under a run is not silently made again, half of it missing."""
    if not folder.is_dir():
        raise StoreError(f"out={folder}: was removed while the run was using it", "start the run again")
