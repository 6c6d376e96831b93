"""The upload file: what one site sends, once. Tensors as every upload has them, a manifest, the site's signature.

Sealed, it is a box that nobody but the coordinator can open, with the job it answers written outside.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.public import SealedBox
from nacl.signing import SigningKey, VerifyKey
from torch import Tensor

from mooring.errors import FederationError, UploadError
from mooring.federation._container import (
    AGAIN,
    Container,
    FileLimits,
    decode_container,
    encode,
    file_hash,
    is_key,
    load_bytes,
    reject_file,
)
from mooring.federation._job_file import parse_time, type_name
from mooring.federation._manifests import are_versions, manifest_as
from mooring.federation._withheld_counts import ALIKE, WITHHELD
from mooring.schema import digest, record_tree
from mooring.types import Upload
from mooring.uploads import Limits
from mooring.uploads import decode as decode_upload
from mooring.uploads import encode as encode_upload

UPLOAD, SEALED = "upload", "sealed"
USUAL = FileLimits()


@dataclass(frozen=True)
class TensorFacts:
    """A tensor as the manifest tells it."""

    dtype: str
    shape: tuple[int, ...]
    bytes: int
    sha256: str


@dataclass(frozen=True)
class UploadManifest:
    """What an upload file says of itself. Nothing of a site stands here that its tensors do not need."""

    job: str  # SHA-256 of the job file
    work: str  # SHA-256 of the client job
    site: str
    samples: int | None  # images behind it; None: withheld
    classes: tuple[str, ...]
    minimum: int  # images of a class that the job asks for
    created: str
    tensors: Mapping[str, TensorFacts]
    metrics: Mapping[str, float | None]  # of its own training, as it measured them
    versions: Mapping[str, str]
    small_classes: bool = False  # the site allowed classes with fewer images than the job's minimum
    masked: bool = False  # numbers that can only be added up, over all sites of the job
    privacy: Mapping[str, float] = field(default_factory=dict)  # epsilon, delta and sigma of its noise, if it has some
    accepted_disclosure: bool = False  # images can be rebuilt, and the site accepted it; the key is written if so


@dataclass(frozen=True)
class UploadFile:
    """An upload file that was read, and is what its signer wrote."""

    manifest: UploadManifest
    upload: Upload = field(repr=False)  # of one image, where it does not tell of how many
    signer: str  # public key
    sha256: str  # of the file's head
    data: bytes = field(repr=False)  # the file as it was signed, out of its seal
    box: str | None = None  # SHA-256 of the file as it came, where it was sealed


def tensor_facts(tensor: Tensor) -> TensorFacts:
    data = tensor.contiguous().numpy().tobytes()
    return TensorFacts(type_name(tensor), tuple(tensor.shape), len(data), sha256(data).hexdigest())


def numbers_of(manifest: UploadManifest) -> str:
    """SHA-256 of all that the tensors of an upload say."""
    return digest({name: facts.sha256 for name, facts in manifest.tensors.items()})


def encode_file(manifest: UploadManifest, upload: Upload, key: SigningKey) -> bytes:
    tree: dict[str, object] = record_tree(manifest)
    if not manifest.accepted_disclosure:
        del tree["accepted_disclosure"]  # as uploads always were
    return encode(UPLOAD, tree, encode_upload(upload), key)


def seal(data: bytes, job: str, coordinator: str) -> bytes:
    """The file in a box for the coordinator alone."""
    box = SealedBox(VerifyKey(bytes.fromhex(coordinator)).to_curve25519_public_key())
    return encode(SEALED, {"job": job, "for": coordinator}, box.encrypt(data))


@dataclass(frozen=True)
class UploadLimits:
    """How much a reader takes of an upload file, and of the tensors inside."""

    file: FileLimits = USUAL
    tensors: Limits = Limits()


ANY = UploadLimits()


def read_upload(path: Path, limits: UploadLimits = ANY, key: SigningKey | None = None) -> UploadFile:
    """The upload in a file; one that is sealed is opened with this key."""
    what, data = str(path), load_bytes(path, limits.file)
    held = decode_container(data, None, limits.file, what)
    if held.kind != SEALED:
        return opened_upload(held, data, what, limits)
    inner = unsealed(held, what, key)
    return replace(
        opened_upload(decode_container(inner, UPLOAD, limits.file, what), inner, what, limits), box=file_hash(data)
    )


def unsealed(held: Container, what: str, key: SigningKey | None) -> bytes:
    """What is in the box, for whom it is."""
    if key is None or held.manifest.get("for") != bytes(key.verify_key).hex():
        raise FederationError(f"{what}: is sealed for somebody else", "open it where the job was planned")
    try:
        inner: bytes = SealedBox(key.to_curve25519_private_key()).decrypt(bytes(held.payload))
    except CryptoError:
        raise FederationError(f"{what}: its seal cannot be opened", AGAIN) from None
    return inner


def opened_upload(held: Container, data: bytes, what: str, limits: UploadLimits = ANY) -> UploadFile:
    """The upload that a container holds, manifest and tensors held against each other."""
    if held.kind != UPLOAD or held.signer is None:
        reject_file(what, "is not a signed upload")
    manifest = manifest_as(UploadManifest, held.manifest, what, AGAIN)
    try:
        upload = decode_upload(held.payload, limits.tensors)
    except UploadError as error:
        raise FederationError(f"{what}: {error.problem}", error.remedy) from None
    signed = (manifest.site, WITHHELD if manifest.samples is None else manifest.samples, manifest.work)
    if signed != (upload.site, upload.samples, upload.job):
        reject_file(what, "says other things outside than inside")
    if dict(manifest.tensors) != {name: tensor_facts(tensor) for name, tensor in upload.tensors.items()}:
        reject_file(what, "holds other tensors than its manifest says")
    if not are_versions(manifest.versions):
        reject_file(what, "lists invalid versions")
    if not is_key(manifest.job):
        reject_file(what, "answers no job")
    parse_time(manifest.created)
    upload = replace(upload, samples=ALIKE) if manifest.samples is None else upload
    return UploadFile(manifest, upload, held.signer, held.sha256, data)
