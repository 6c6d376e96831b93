"""Files that clients leave in a run folder: their uploads, and the states from which an interrupted run goes on.

uploads/round-001/client-0003.safetensors   one upload, identified by its SHA-256
state/client-0003.state     the newest
state/client-0003.before    the one before it: if the newest is damaged, there is still a good one

A state also holds the records of its client so far, because a loss of power may remove lines of `events.jsonl`.
"""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from torch import Tensor

from mooring.errors import StoreError, UploadError
from mooring.events import ClientRecord
from mooring.record._events import EVENTS
from mooring.record._files import CHANGED, Unsynced, read_bytes, reject_links, require_folder, write_atomically
from mooring.record._result import UploadRecord
from mooring.schema import MalformedRecordError, from_tree, record_tree
from mooring.types import Upload
from mooring.uploads import decode, decode_tensors, encode, encode_tensors

FORMAT = 2
DIGEST = 64  # hexadecimal digits


@dataclass(frozen=True)
class StateFacts:
    """The facts that a state holds in addition to its tensors."""

    client: int
    fingerprint: str  # of the experiment
    job: str  # SHA-256 of the job that the client trains by
    uploads: tuple[UploadRecord, ...]  # on disk before it
    records: tuple[ClientRecord, ...]  # of the rounds before it
    format: int = FORMAT


@dataclass
class StateFolder:
    """The states of one run. Every file begins with the SHA-256 of all that follows it."""

    folder: Path
    fingerprint: str
    job: str = ""
    unsynced: Unsynced = field(default_factory=Unsynced)
    uploads: dict[int, dict[int, UploadRecord]] = field(default_factory=dict)  # client -> round -> on disk
    records: dict[int, dict[int, ClientRecord]] = field(default_factory=dict)  # client -> round -> measured
    damaged: set[Path] = field(default_factory=set)  # files that were met and are not what was written

    def delivered(self, upload: UploadRecord) -> None:
        """An upload is on disk: the states that follow rely on it."""
        self.uploads.setdefault(upload.client, {})[upload.round] = upload

    def measured(self, record: ClientRecord) -> None:
        """A round has ended: the states that follow know what was measured."""
        self.records.setdefault(record.client, {})[record.round] = record

    def keep(self, client: int, tensors: Mapping[str, Tensor]) -> None:
        """The newest state takes the place of the one before; a crash leaves at least one of them whole."""
        require_folder(self.folder)
        reject_links(self.folder, "state", *(f"state/{path.name}" for path in self._paths(client)))
        uploads, records = self.uploads.get(client, {}), self.records.get(client, {})
        facts = StateFacts(client, self.fingerprint, self.job, tuple(uploads.values()), tuple(records.values()))
        body = encode_tensors(tensors, record_tree(facts))
        newest, before = self._paths(client)
        if newest.exists():
            try:
                newest.replace(before)
            except OSError as error:
                raise StoreError(f"{newest}: cannot be moved ({error.strerror})", "check the run folder") from None
        self.unsynced.add(self.folder / EVENTS)  # what happened before this state is on disk before it
        write_atomically(newest, sha256(body).hexdigest().encode() + body, self.folder, self.unsynced)

    def exists(self, client: int) -> bool:
        return any(path.exists() for path in self._paths(client))

    def last(self, client: int) -> Mapping[str, Tensor] | None:
        """The newest state that is whole, belongs to this run, and whose uploads are still there."""
        found = self.newest(client)
        return None if found is None else found[1]

    def facts(self, client: int) -> StateFacts | None:
        """What the state to go on from says of itself."""
        found = self.newest(client)
        return None if found is None else found[0]

    def newest(self, client: int) -> tuple[StateFacts, dict[str, Tensor]] | None:
        """Both, read once."""
        return next(filter(None, (self._read(path, client) for path in self._paths(client))), None)

    def _read(self, path: Path, client: int) -> tuple[StateFacts, dict[str, Tensor]] | None:
        try:
            data = read_bytes(path)
        except OSError:
            return None
        digest, body = data[:DIGEST], data[DIGEST:]
        if sha256(body).hexdigest().encode() != digest:
            self.damaged.add(path)
            return None
        try:
            tree, tensors = decode_tensors(body, what=path.name)
            facts: StateFacts = from_tree(StateFacts, tree)
            mine = (facts.client, facts.format, facts.fingerprint, facts.job) == (
                client,
                FORMAT,
                self.fingerprint,
                self.job,
            )
            there = self.uploads.get(client, {})
            if not mine or any(there.get(upload.round) != upload for upload in facts.uploads):
                return None
            return facts, tensors
        except (UploadError, MalformedRecordError):
            return None

    def _paths(self, client: int) -> tuple[Path, Path]:
        newest = self.folder / "state" / f"client-{client:04d}.state"
        return newest, newest.with_suffix(".before")


def discard_states(folder: Path) -> int:
    """Remove the states of a run; how many bytes that were."""
    reject_links(folder, "state")
    states = [path for path in (folder / "state").glob("*") if path.is_file()]
    nbytes = sum(path.stat().st_size for path in states)
    shutil.rmtree(folder / "state", ignore_errors=True)
    return nbytes


def write_upload(folder: Path, upload: Upload, unsynced: Unsynced) -> UploadRecord:
    data = encode(upload)
    write_atomically(upload_path(folder, upload.client, upload.round), data, folder, unsynced)
    return record_of(upload, data)


def read_upload(folder: Path, record: UploadRecord) -> Upload:
    """Read an upload again; raises an error if it is not what was written."""
    path = upload_path(folder, record.client, record.round)
    try:
        data = read_bytes(path)
        if sha256(data).hexdigest() != record.sha256:
            raise StoreError(f"{path}: the upload has changed since it was written", "repeat the run with --again")
        upload = decode(data)
        if record_of(upload, data) != record:
            raise StoreError(f"{path}: its record was {CHANGED}", "repeat the run with --again")
        return upload
    except (OSError, UploadError) as error:
        raise StoreError(f"{path}: cannot be read ({error})", "repeat the run with --again") from None


def found_uploads(folder: Path) -> Iterator[UploadRecord]:
    """Every upload that is there and can be read."""
    for path in sorted((folder / "uploads").glob("round-*/client-*.safetensors")):
        try:
            data = read_bytes(path)
            record = record_of(decode(data), data)
        except (OSError, UploadError, StoreError):
            continue
        if upload_path(folder, record.client, record.round) == path:  # else it lies where another belongs
            yield record


def record_of(upload: Upload, data: bytes) -> UploadRecord:
    digest = sha256(data).hexdigest()
    return UploadRecord(upload.client, upload.round, upload.samples, len(data), digest, upload.site, upload.job)


def upload_path(folder: Path, client: int, round_: int) -> Path:
    return folder / "uploads" / f"round-{round_:03d}" / f"client-{client:04d}.safetensors"
