"""Check that the files of a run folder are as they were written: configuration, events, uploads, result, fusions."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mooring.errors import StoreError
from mooring.record.files import file_sha256
from mooring.record.folder import RESULT, RunFolder, read_fusion

FileState = Literal["as written", "changed", "missing"]


@dataclass(frozen=True)
class Verified:
    """One file, and whether its content is still what was written."""

    file: str
    state: FileState


def verify(folder: RunFolder) -> tuple[Verified, ...]:
    """Every file that belongs to the run. Raises an error if there is no result to compare them with."""
    return tuple(_checks(folder))


def _checks(folder: RunFolder) -> Iterator[Verified]:
    try:
        result = folder.result
    except StoreError as error:
        if not folder.ended:
            raise
        yield Verified(f"{RESULT} ({error.problem})", "changed")
        return
    yield Verified(RESULT, "as written")
    for name, known in result.files.items():
        yield Verified(name, _compared(folder.path / name, known))
    for upload in result.uploads:
        path = folder.upload_file(upload)
        yield Verified(str(path.relative_to(folder.path)), _compared(path, upload.sha256))
    for path in sorted((folder.path / "fusions").glob("*.json")):
        yield Verified(str(path.relative_to(folder.path)), _sealed(path))


def _compared(path: Path, known: str) -> FileState:
    try:
        return "as written" if file_sha256(path) == known else "changed"
    except OSError:
        return "missing"
    except StoreError:  # a link, a pipe or a device
        return "changed"


def _sealed(path: Path) -> FileState:
    try:
        read_fusion(path)
    except StoreError:
        return "changed"
    return "as written"
