"""How much of a machine data may take: checked before anything is read or decoded."""

import os
import stat
from dataclasses import field
from pathlib import Path
from typing import Any

from mooring.errors import DataError
from mooring.trees import GUARD

MAX_BYTES = 8_000_000_000
MAX_PIXELS = 100_000_000


def guard(most: int) -> Any:
    """A field that can stop an experiment and never changes its result."""
    return field(default=most, metadata={GUARD: True})


def regular(path: Path) -> os.stat_result:
    """A pipe or a device would wait, or never end."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path} is no regular file")
    return found


def refuse_excess(what: str, nbytes: int, max_bytes: int) -> None:
    if nbytes > max_bytes:
        problem = f"{what} need {nbytes} bytes of memory, above data.max_bytes={max_bytes}"
        raise DataError(problem, "use fewer or smaller ones, or raise data.max_bytes")


def out_of_memory(what: str) -> DataError:
    return DataError(f"{what} do not fit into memory", "use fewer or smaller ones, or a machine with more memory")
