"""How everything is written: all of it or nothing, into a folder that is still there."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path

from mooring.errors import StoreError


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
        remember_names(path.parent)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: cannot be written ({error.strerror})", "free some space or choose another out=..."
        ) from None


def remember_names(folder: Path) -> None:
    """A renamed file survives a loss of power only when its folder is on disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def strict_json(value: object, indent: int | None = None) -> str:
    """JSON that every reader understands: a number that is not finite becomes null."""
    return json.dumps(_finite(value), indent=indent, allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value
