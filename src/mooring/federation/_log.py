"""The log: what was decided here, one line after the other, each with the hash of the line before it.

A line that was changed, removed or put in breaks the chain; `log.head` shows whether lines are missing at the end,
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
from mooring.record import as_record, write_atomically
from mooring.schema import canonical_json, record_tree

LINES, HEAD, LOCK = "log.jsonl", "log.head", ".log.lock"
FIRST = "0" * 64
LONGEST = 2**16  # bytes of a line
Action = Literal["planned", "approved", "trained", "fused", "set aside", "left out", "withdrawn", "used", "revealed"]


@dataclass(frozen=True)
class Noise:
    """What the noise of one upload grants, and which numbers it was that left."""

    epsilon: float
    delta: float
    sigma: float
    numbers: str  # SHA-256: the same numbers once more tell nothing more


@dataclass(frozen=True)
class SumRecord:
    """A secure sum that a site took part in."""

    keys: tuple[str, ...]  # public keys of all sites in it
    images: str = ""  # SHA-256 of this site's images; empty where it revealed masks


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
    noise: Noise | None = None  # of an upload that has some
    sum: SumRecord | None = None  # of a secure sum; the key is not written where there is none

    @property
    def line(self) -> str:
        tree: dict[str, object] = record_tree(self)
        if self.sum is None:
            del tree["sum"]  # as lines always were
        return canonical_json(tree)


@dataclass(frozen=True)
class Log:
    """The log in a home."""

    home: Path

    @property
    def path(self) -> Path:
        return self.home / LINES

    def note(
        self,
        action: Action,
        job: str,
        file: str = "",
        who: str = "",
        words: str = "",
        noise: Noise | None = None,
        sum_: SumRecord | None = None,
    ) -> Entry:
        """One more line; everything before it stays."""
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(self.home / LOCK):
            entries = self.entries()  # nothing is added to a log that is not what was written
            count, last = len(entries), hash_of(entries[-1].line) if entries else FIRST
            self._drop_unfinished()
            at = datetime.now(UTC).isoformat(timespec="seconds")
            entry = Entry(at, action, job, file, who, words, last, noise, sum_)
            line = entry.line
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
                genuine = entry.line == line and entry.before == before
            except (ValueError, RecursionError, StoreError):
                genuine = False
            if not genuine:
                raise broken(self.path, f"line {number} was changed, or one before it was removed")
            before = hash_of(line)
            found.append(entry)
        count, last = self._head()
        one_ahead = len(found) == count + 1 and found[-1].before == last  # power was lost between line and head
        if (len(found), before) != (count, last) and not one_ahead:
            raise broken(self.path, f"it ends after {len(lines)} lines, and had {count}")
        return found

    def has(self, action: Action, job: str) -> bool:
        return any(entry.action == action and entry.job == job for entry in self.entries())

    @property
    def last(self) -> str:
        """The hash of the last line: note it elsewhere, and nothing before it can be changed unseen."""
        return self._head()[1]

    def _lines(self) -> list[str]:
        """Every line that was written to its end; what a loss of power left of another is none."""
        try:
            text = self.path.read_bytes().decode("utf-8") if self.path.exists() else ""
        except (OSError, UnicodeDecodeError):
            raise broken(self.path, "it cannot be read") from None
        return text.split("\n")[:-1]

    def _drop_unfinished(self) -> None:
        if self.path.exists():
            data = self.path.read_bytes()
            if not data.endswith(b"\n"):
                write_atomically(self.path, data[: data.rfind(b"\n") + 1])

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
