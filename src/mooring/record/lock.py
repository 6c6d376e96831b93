"""One process in a folder at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from mooring.errors import StoreError

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
