"""How everything is written and read: all of it or nothing, by one process at a time, regular files alone.

A link, a pipe or a device in the place of a file is rejected: what stands in a run folder may come from anybody.
"""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import ELOOP
from hashlib import file_digest
from io import BufferedReader
from pathlib import Path
from time import monotonic
from typing import TypeVar

from filelock import FileLock, Timeout

from mooring.errors import StoreError
from mooring.schema import MalformedRecordError, digest, from_tree, record_tree, strict_json
from mooring.uploads import Piece

T = TypeVar("T")

LOCK = ".lock"
UNSYNCED_SECONDS = 1.0  # that a loss of power may take
PATIENCE = 1.0  # seconds for which a lock is asked for: somebody may only be looking whether it is taken
SEAL = "sha256"  # of all that a record says beside it
SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
CHANGED = "changed since it was written"


class Unsynced:
    """Files that are written but not yet on disk: a loss of power loses one second of them at most.

    Waiting for the disk after every file of a client that trains briefly would take longer than training it again.
    """

    def __init__(self) -> None:
        self._paths: dict[Path, None] = {}  # in the order in which they were written
        self._synced = monotonic()

    def add(self, path: Path) -> None:
        self._paths[path] = None
        if monotonic() - self._synced > UNSYNCED_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Write all of them, and their names, to disk; files that were removed are skipped."""
        paths, self._paths = self._paths, {}
        for path in paths:
            _sync(path)
        for folder in dict.fromkeys(path.parent for path in paths):
            _sync(folder)
        self._synced = monotonic()


def write_atomically(
    path: Path, data: bytes | Iterable[Piece], within: Path | None = None, unsynced: Unsynced | None = None
) -> None:
    """All of it or nothing: a reader never sees half a file, and neither does a crash or a loss of power.

    `within` must be there: a folder that was removed is not made again. With `unsynced` a loss of power within a second
    may leave the file empty: for what is known by its hash, and can be made again.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        make_folders(path.parent, within)
        with draft.open("wb") as file:
            file.writelines((data,) if isinstance(data, bytes) else data)
            file.flush()
            if unsynced is None:
                os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):  # nothing was written to a file system that is read-only
            draft.unlink(missing_ok=True)
        if within is not None:
            require_folder(within)
        raise StoreError(
            f"{path}: cannot be written ({error.strerror})",
            "free some space, or choose another place with out=... or --out",
        ) from None
    if unsynced is None:
        _sync(path.parent)
    else:
        unsynced.add(path)


def make_folders(folder: Path, within: Path | None) -> None:
    """The folders from `within`, which must be there, down to `folder`."""
    if within is None:
        folder.mkdir(parents=True, exist_ok=True)
        return
    for part in reversed([folder, *folder.parents]):
        if part.is_relative_to(within) and part != within:
            part.mkdir(exist_ok=True)


def sweep_drafts(folder: Path) -> None:
    """Remove what killed processes left of files that they had not finished."""
    for draft in filter(is_draft, folder.rglob(".*.*")):
        draft.unlink(missing_ok=True)


def is_draft(path: Path) -> bool:
    """Is it what a killed process left of a file? `.experiment.yaml.4711`"""
    name, _, number = path.name.rpartition(".")
    return name.startswith(".") and len(name) > 1 and number.isdigit() and path.is_file() and not path.is_symlink()


def read_bytes(path: Path) -> bytes:
    """The content of a regular file. Raises OSError, or StoreError if it is not a file."""
    with regular_file(path) as file:
        return file.read()


@contextmanager
def regular_file(path: Path) -> Iterator[BufferedReader]:
    """A file, open to be read; no link, pipe or device is followed."""
    try:
        handle = os.open(path, os.O_RDONLY | SAFELY)
    except OSError as error:
        if error.errno == ELOOP:
            raise no_file(path, "a link") from None
        raise
    with os.fdopen(handle, "rb") as file:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise no_file(path, "a pipe or a device")
        yield file


def no_file(path: Path, what: str) -> StoreError:
    return StoreError(f"{path}: is {what}, not a file of a run", "remove it; nothing was read or written through it")


def reject_links(folder: Path, *names: str) -> None:
    """No entry of these names may be a link, a pipe or a device: writing there would reach something else."""
    for name in names:
        path = folder / name
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue
        if stat.S_ISLNK(mode):
            raise no_file(path, "a link")
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise no_file(path, "a pipe or a device")


def write_json(path: Path, value: object, within: Path | None = None) -> None:
    """Plain values as people read them."""
    write_atomically(path, (strict_json(value, indent=1) + "\n").encode(), within)


def write_record(path: Path, record: object, within: Path | None = None) -> None:
    """A record, sealed with the SHA-256 of what it says."""
    write_json(path, sealed(record), within)


def sealed(record: object) -> Mapping[str, object]:
    tree = record_tree(record)
    return {**tree, SEAL: digest(tree)}


def read_json(path: Path, remedy: str) -> object:
    """What a JSON file says."""
    try:
        tree: object = json.loads(read_bytes(path).decode("utf-8"))
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", remedy) from None
    except (ValueError, RecursionError):
        raise StoreError(f"{path}: is not valid JSON", remedy) from None
    return tree


def check_seal(kind: type[T], tree: object, path: Path, remedy: str) -> T:
    """A record that says what was written."""
    record = as_record(kind, tree, path, remedy)
    assert isinstance(tree, dict)
    if tree.get(SEAL) != digest({name: value for name, value in tree.items() if name != SEAL}):
        raise StoreError(f"{path}: {CHANGED}", remedy)
    return record


def as_record(kind: type[T], tree: object, path: Path, remedy: str) -> T:
    """A record of this kind; an error names the file and the field."""
    try:
        record: T = from_tree(kind, tree)
    except MalformedRecordError as error:
        raise StoreError(f"{path}: {error}", remedy) from None
    return record


def file_sha256(path: Path) -> str:
    """Of a file's content, of which little is in memory at a time."""
    with regular_file(path) as file:
        return file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Wait until a file's content, or the names in a folder, are on disk; do nothing if it does not exist.

    A renamed file survives a loss of power only when its folder is on disk too; Windows cannot be asked to.
    """
    if os.name != "posix" and path.is_dir():
        return
    try:
        handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror})",
            "free some space, then start again: it goes on from there",
        ) from None
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder, for this process alone; the lock ends with the process, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        reject_links(folder, LOCK)
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
    reject_links(folder, LOCK)
    if not (folder / LOCK).exists():
        return False
    try:
        with FileLock(folder / LOCK).acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def require_folder(folder: Path) -> None:
    """A folder that was removed under a run is not silently made again, half of it missing."""
    if not folder.is_dir():
        raise StoreError(f"out={folder}: was removed while the run was using it", "start the run again")
