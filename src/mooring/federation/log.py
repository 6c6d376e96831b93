"""The log: what was decided here, one line after the other, each with the hash of the line before it.

A line that was changed, removed or put in breaks the chain; lines that are missing at the end are told by `log.head`,
which holds their number and the last hash. It proves nothing against somebody who may write in this home: note the last
hash elsewhere where that matters.
"""

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

from filelock import FileLock

from mooring.errors import FederationError, StoreError
from mooring.record import as_record, as_tree, write_atomically
from mooring.trees import canonical_json

LINES, HEAD, LOCK = "log.jsonl", "log.head", ".log.lock"
FIRST = "0" * 64
LONGEST = 2**16  # bytes of a line
Action = Literal["planned", "approved", "trained", "fused", "set aside", "left out", "withdrawn", "used"]


@dataclass(frozen=True)
class Entry:
    """Who decided what, about which job and which file, and when."""

    at: str
    action: Action
    job: str  # SHA-256 of the job file
    file: str  # SHA-256 of the file in question; empty where there is none
    who: str  # the site, or the public key
    words: str  # what was decided, for people
    before: str  # hash of the line before


@dataclass(frozen=True)
class Log:
    """The log in a home."""

    home: Path

    @property
    def path(self) -> Path:
        return self.home / LINES

    def note(self, action: Action, job: str, file: str = "", who: str = "", words: str = "") -> Entry:
        """One more line; everything before it stays."""
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(self.home / LOCK):
            count, last = self._head()
            at = datetime.now(UTC).isoformat(timespec="seconds")
            entry = Entry(at, action, job, file, who, words, last)
            line = canonical_json(as_tree(entry))
            try:
                with self.path.open("ab") as file_:
                    file_.write(line.encode() + b"\n")
                    file_.flush()
                    os.fsync(file_.fileno())
            except OSError as error:
                raise FederationError(f"{self.path}: cannot be written ({error.strerror})", "free some space") from None
            write_atomically(self.home / HEAD, f"{count + 1} {hash_of(line)}\n".encode())
        return entry

    def entries(self) -> list[Entry]:
        """Every line, once the chain was followed to its end."""
        lines, before = self._lines(), FIRST
        found: list[Entry] = []
        for number, line in enumerate(lines, 1):
            try:
                tree = json.loads(line)
                entry = as_record(Entry, tree, self.path, "restore it from a backup")
                genuine = canonical_json(as_tree(entry)) == line and entry.before == before
            except (ValueError, RecursionError, StoreError):
                genuine = False
            if not genuine:
                raise broken(self.path, f"line {number} was changed, or one before it was removed")
            before = hash_of(line)
            found.append(entry)
        if (len(lines), before) != self._head():
            raise broken(self.path, f"it ends after {len(lines)} lines, and had {self._head()[0]}")
        return found

    def has(self, action: Action, job: str) -> bool:
        return any(entry.action == action and entry.job == job for entry in self.entries())

    @property
    def last(self) -> str:
        """The hash of the last line: note it elsewhere, and nothing before it can be changed unseen."""
        return self._head()[1]

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text("utf-8").splitlines() if self.path.exists() else []
        except (OSError, UnicodeDecodeError):
            raise broken(self.path, "it cannot be read") from None

    def _head(self) -> tuple[int, str]:
        path = self.home / HEAD
        try:
            count, _, last = path.read_text("ascii").strip().partition(" ") if path.exists() else ("0", "", FIRST)
            return int(count), last
        except (OSError, ValueError):
            raise broken(path, "it cannot be read") from None


def hash_of(line: str) -> str:
    return sha256(line.encode()).hexdigest()


def broken(path: Path, problem: str) -> FederationError:
    return FederationError(f"{path}: the log is not what was written: {problem}", "restore it from a backup")
