"""What is fuzzed: a good file, and how it is read."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random


@dataclass(frozen=True)
class Target:
    """One kind of file.

    `seed` writes whatever surrounds the file into an empty folder and returns the bytes of a good one. `load` puts
    bytes into its place in that folder, reads it as users do, and returns a text that differs when what was read
    differs. Where the format has a checksum (`checked`), bytes that were changed must not be read as other content.
    """

    seed: Callable[[Path], bytes]
    load: Callable[[Path, bytes], str]
    checked: bool = False
    damage: Callable[[bytes, Random], bytes] | None = None  # of its own, instead of that of bytes
