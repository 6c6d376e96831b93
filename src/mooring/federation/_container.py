"""The `.mooring` file: one layout for jobs, uploads and models, signed by whoever wrote it.

    8 bytes    MOORING1
    4 bytes    length of the head, little-endian
    head       canonical JSON: format, kind, manifest, size and SHA-256 of the payload, public key of the signer or null
    payload    bytes of the codec of uploads, or none
    64 bytes   Ed25519 signature of the head; 32 bytes with its SHA-256 where nobody signs

The head names the payload by its SHA-256, so a signature of the head is one of the whole file. Sizes are checked before
anything is read, the signature before anything is believed, and a head that is spelled in another way is rejected: one
content is one file.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import NoReturn

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from mooring.errors import FederationError
from mooring.record import write_atomically
from mooring.schema import Tree, canonical_json
from mooring.uploads import Pieces, as_pieces, ascii_repr, is_byte_count, parse_json_object

MAGIC = b"MOORING1"
FORMAT = 1
LENGTH = 4  # bytes that hold the length of the head
SIGNATURE, DIGEST = 64, 32  # bytes at the end, signed or not
START = len(MAGIC) + LENGTH
DOMAIN = b"mooring file\x00"  # before what is signed, so that a signature made for another purpose says nothing here
HEAD = {"format", "kind", "manifest", "payload", "signer"}
KINDS = {  # what people call them
    "job": "a job",
    "upload": "an upload",
    "sealed": "a sealed upload",
    "model": "a model",
    "calibration": "the calibration of a model",
    "uploads": "the uploads behind a model",
    "withdrawal": "a statement that a site was withdrawn",
    "recovery": "what a site reveals of its masks with missing sites",
}
AGAIN = "ask for the file to be sent again"


@dataclass(frozen=True)
class FileLimits:
    """How much a reader takes, before it has read anything: of all bytes, and of the head."""

    bytes: int = 2**32
    head_bytes: int = 2**24


USUAL = FileLimits()


@dataclass(frozen=True)
class Container:
    """What a file holds once its signature was checked; whether to believe its signer is another question."""

    kind: str
    manifest: Tree
    payload: memoryview  # of the file's bytes: what is large is there once
    signer: str | None  # public key, 64 hexadecimal digits
    sha256: str  # of the head: the name of this very file


def encode(kind: str, manifest: Mapping[str, object], payload: bytes = b"", key: SigningKey | None = None) -> bytes:
    """The bytes of a file; the same for the same content and key."""
    return encode_in_pieces(kind, manifest, as_pieces(payload), key).joined()


def encode_in_pieces(kind: str, manifest: Mapping[str, object], payload: Pieces, key: SigningKey | None) -> Pieces:
    """The same bytes, with a payload that is not in memory."""
    header = {
        "format": FORMAT,
        "kind": kind,
        "manifest": dict(manifest),
        "payload": {"bytes": payload.size, "sha256": payload.sha256},
        "signer": None if key is None else bytes(key.verify_key).hex(),
    }
    head = canonical_json(header).encode()
    seal = sha256(DOMAIN + head).digest() if key is None else key.sign(DOMAIN + head).signature
    start = MAGIC + len(head).to_bytes(LENGTH, "little") + head
    return Pieces(len(start) + payload.size + len(seal), lambda: chain((start,), payload, (seal,)))


def decode_container(data: bytes, kind: str | None, limits: FileLimits = USUAL, what: str = "file") -> Container:
    """A file of this kind (of any, if None): any other sequence of bytes raises a one-line error."""
    if len(data) > limits.bytes:
        reject_file(what, f"has {len(data)} bytes and may have {limits.bytes}")
    if data[: len(MAGIC)] != MAGIC:
        reject_file(what, "is not a .mooring file", "name a file that mooring wrote")
    size = int.from_bytes(data[len(MAGIC) : START], "little")
    if len(data) < START or size > len(data) - START:
        reject_file(what, f"ends after {len(data)} bytes, within its head")
    if size > limits.head_bytes:
        reject_file(what, f"has a head of {size} bytes and may have one of {limits.head_bytes}")
    head = data[START : START + size]
    tree = header_tree(head, what)
    signer = signer_of(tree, what)
    payload_bytes = payload_of(tree, what)
    end = START + size + payload_bytes
    seal = SIGNATURE if signer is not None else DIGEST
    if len(data) != end + seal:
        reject_file(what, f"has {len(data)} bytes, and its head says {end + seal}")
    if not is_genuine(head, signer, data[end:]):
        reject_file(what, "was changed after it was signed" if signer else "was changed on the way")
    payload = memoryview(data)[START + size : end]
    if sha256(payload).hexdigest() != tree["payload"]["sha256"]:
        reject_file(what, "was changed on the way: the SHA-256 of its payload is another")
    if kind is not None and tree["kind"] != kind:
        reject_file(what, f"is {called(tree['kind'])}, not {called(kind)}", f"name the file of {called(kind)}")
    return Container(tree["kind"], tree["manifest"], payload, signer, sha256(head).hexdigest())


def read_container(path: Path, kind: str | None, limits: FileLimits = USUAL) -> Container:
    """The file at this path."""
    return decode_container(load_bytes(path, limits), kind, limits, str(path))


def load_bytes(path: Path, limits: FileLimits = USUAL) -> bytes:
    """The bytes of the file at this path; its size is looked at first."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # before it is opened: a pipe would wait for whoever writes into it
            reject_file(str(path), "is not a regular file", "name a file")
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > limits.bytes:
                reject_file(str(path), f"has {status.st_size} bytes and may have {limits.bytes}")
            return file.read(status.st_size + 1)  # not the limit: so much would be asked of the memory at once
    except OSError as error:
        raise FederationError(f"{path}: cannot be read ({error.strerror})", "name a file that is there") from None


def write_container(path: Path, data: bytes | Pieces) -> None:
    """All of it or nothing."""
    write_atomically(path, data)


def file_hash(data: bytes) -> str:
    """SHA-256 of a whole file, as `sha256sum` prints it."""
    return sha256(data).hexdigest()


def header_tree(head: bytes, what: str) -> Tree:
    """What the head says, if it is spelled in the one canonical way."""
    try:
        tree = parse_json_object(head.decode("ascii"))
        canonical = canonical_json(tree).encode()
    except (ValueError, RecursionError) as error:
        reject_file(what, f"has a head that cannot be read ({ascii_repr(str(error))})")
    if canonical != head or tree.keys() != HEAD:
        reject_file(what, "has a head that mooring did not write")
    if tree["format"] != FORMAT:
        reject_file(what, f"has format {ascii_repr(tree['format'])}; this version reads {FORMAT}", "update mooring")
    if not isinstance(tree["kind"], str) or not isinstance(tree["manifest"], dict):
        reject_file(what, "has a head that mooring did not write")
    return tree


def payload_of(tree: Tree, what: str) -> int:
    """Bytes of the payload."""
    payload = tree["payload"]
    if not isinstance(payload, dict) or payload.keys() != {"bytes", "sha256"} or not is_byte_count(payload["bytes"]):
        reject_file(what, f"has a payload described by {ascii_repr(payload)}")
    size: int = payload["bytes"]
    return size


def signer_of(tree: Tree, what: str) -> str | None:
    signer = tree["signer"]
    if signer is not None and not is_key(signer):
        reject_file(what, f"has signer {ascii_repr(signer)}, which is not a key")
    public_key: str | None = signer
    return public_key


def is_key(value: object) -> bool:
    """64 lower-case hexadecimal digits."""
    return isinstance(value, str) and len(value) == 64 and not set(value) - set("0123456789abcdef")


def is_genuine(head: bytes, signer: str | None, seal: bytes) -> bool:
    if signer is None:
        return sha256(DOMAIN + head).digest() == seal
    try:
        VerifyKey(bytes.fromhex(signer)).verify(DOMAIN + head, seal)
    except (BadSignatureError, ValueError, TypeError):
        return False
    return True


def called(kind: str) -> str:
    """`an upload`; somebody else's kind may be called anything."""
    return KINDS.get(kind, f"a {ascii_repr(kind)}")


def reject_file(what: str, problem: str, remedy: str = AGAIN) -> NoReturn:
    raise FederationError(f"{what}: {problem}", remedy)
