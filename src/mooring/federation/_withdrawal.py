"""A signed statement for a site that leaves: the model is now, byte for byte, one that never saw it.

The coordinator signs only after a second fusion, which starts from the stored bytes of the other sites' uploads alone,
has made the same bytes. Fusion is a function of the uploads, so nothing of the site can be left in the model.
"""

from dataclasses import dataclass
from pathlib import Path

from nacl.signing import SigningKey

from mooring.federation._container import decode_container, encode, file_hash
from mooring.federation._fuse import Terms, fuse_uploads
from mooring.federation._job_file import JOB, opened_job
from mooring.federation._kept_uploads import KeptUploads
from mooring.federation._upload_file import UPLOAD, UploadFile, opened_upload
from mooring.fusion import Predictor
from mooring.schema import record_tree

WITHDRAWAL = "withdrawal"
SENTENCE = (
    "The model is byte for byte the one that the uploads of the other sites make: it equals one that never saw {}. "
    "The upload of {} is no longer among the uploads that the coordinator keeps."
)


@dataclass(frozen=True)
class Withdrawal:
    """What a coordinator states about a site that left. Copies of the earlier model cannot be called back."""

    site: str
    upload: str  # SHA-256 of the file that the site had sent
    job: str
    before: str  # SHA-256 of the model that it was in
    after: str  # SHA-256 of the model without it
    left: tuple[str, ...]  # the sites in that model
    statement: str


def path_of(site: str, model: Path) -> Path:
    """`model.mooring` -> `south.withdrawn.mooring`"""
    return model.with_name(f"{site}.withdrawn.mooring")


def fused_again(kept: KeptUploads, encoder: str | None) -> Predictor:
    """The predictor of these uploads from their bytes alone."""
    what = "the uploads behind the model"
    job = opened_job(decode_container(kept.job_data, JOB, what=what), what, encoder)
    files = [opened_upload(decode_container(file.data, UPLOAD, what=what), file.data, what) for file in kept.uploads]
    return fuse_uploads(job, files, Terms(keep=tuple(file.manifest.site for file in files))).predictor


def signed_statement(leaving: UploadFile, kept: KeptUploads, models: tuple[str, str], key: SigningKey) -> bytes:
    """A file for the site. `models`: SHA-256 of the model before and after."""
    site = leaving.manifest.site
    left = tuple(file.manifest.site for file in kept.uploads)
    stated = Withdrawal(site, file_hash(leaving.data), kept.job.sha256, *models, left, SENTENCE.format(site, site))
    return encode(WITHDRAWAL, record_tree(stated), key=key)
