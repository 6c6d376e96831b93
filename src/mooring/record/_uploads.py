"""Uploads on disk: one file per client and round, known by its SHA-256."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from mooring.errors import StoreError, UploadError
from mooring.record.files import CHANGED, Unsynced, read_bytes, write_atomically
from mooring.record.result import UploadRecord
from mooring.types import Upload
from mooring.uploads.codec import decode, encode


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
