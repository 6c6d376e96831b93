"""What a coordinator keeps beside a model: the job and the uploads behind it, as they were signed.

`model.uploads.mooring` lies beside `model.mooring` and stays with the coordinator: the model itself, which everybody
gets, holds nothing of a single site. A site that comes late, or leaves, is a fusion of what is kept: equal to one of
the same uploads from the beginning, to the last bit, for every method.
"""

from dataclasses import dataclass
from pathlib import Path

from nacl.signing import SigningKey

from mooring.errors import FederationError
from mooring.federation._container import decode_container, encode, file_hash, load_bytes
from mooring.federation._job_file import JOB, JobFile, opened_job
from mooring.federation._manifests import manifest_as
from mooring.federation._upload_file import UPLOAD, UploadFile, opened_upload
from mooring.schema import record_tree

KIND = "uploads"
ENDING = ".uploads.mooring"
RESTORE = "restore it from a backup, or fuse all uploads again"


@dataclass(frozen=True)
class Index:
    """Where the files lie in the payload, one after the other: the job, then the uploads."""

    model: str  # SHA-256 of the model file that they made
    job_bytes: int
    upload_bytes: tuple[int, ...]


@dataclass(frozen=True)
class KeptUploads:
    """The job and the uploads of a model."""

    job: JobFile
    job_data: bytes
    uploads: tuple[UploadFile, ...]


def path_beside(model: Path) -> Path:
    """`model.mooring` -> `model.uploads.mooring`"""
    return model.with_name(f"{model.name.removesuffix('.mooring')}{ENDING}")


def encode_kept(kept: KeptUploads, model: str, key: SigningKey) -> bytes:
    index = Index(model, len(kept.job_data), tuple(len(file.data) for file in kept.uploads))
    return encode(KIND, record_tree(index), b"".join([kept.job_data, *(file.data for file in kept.uploads)]), key)


def read_kept(model: Path, key: str, encoder: str | None = None) -> KeptUploads:
    """What lies beside this model, every signature checked again; only what the coordinator itself has signed."""
    path = path_beside(model)
    held = decode_container(load_bytes(path), KIND, what=str(path))
    if held.signer != key:
        raise FederationError(f"{path}: is signed by somebody else", "use the account that fused the model")
    index = manifest_as(Index, held.manifest, str(path), RESTORE)
    if index.model != file_hash(load_bytes(model)):
        raise FederationError(f"{path}: belongs to another model than {model}", RESTORE)
    sizes = [index.job_bytes, *index.upload_bytes]
    if min(sizes) < 1 or sum(sizes) != len(held.payload):
        raise FederationError(f"{path}: has {len(held.payload)} bytes of files, and says {sum(sizes)}", RESTORE)
    pieces, start = [], 0
    for size in sizes:
        pieces.append(bytes(held.payload[start : start + size]))
        start += size
    job = opened_job(decode_container(pieces[0], JOB, what=str(path)), str(path), encoder)
    files = tuple(
        opened_upload(decode_container(piece, UPLOAD, what=str(path)), piece, str(path)) for piece in pieces[1:]
    )
    return KeptUploads(job, pieces[0], files)
