"""Names an encoder by the SHA-256 of its content: the same name wherever its file lies, another when it changes."""

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Self

from mooring.errors import ModelError

MOST_BYTES = 2**28  # of a file
WHERE = "encoder"  # how settings name it in messages
SHA256 = "sha256:"
DIGEST = re.compile("[0-9a-f]{64}")
WITH_THE_JOB, NOT_INCLUDED = "goes with the job", "is not in the model"


@dataclass(frozen=True)
class EncoderReference:
    """An encoder by its content. As text:

    - `sha256:HASH` for a file of weights of the model's own backbone,
    - `sha256:HASH:BYTES` for a file that onnxruntime runs, whose module is built before it has its content,
    - `NAME sha256:HASH` for an encoder in a package of `mooring[encoder]`.
    """

    digest: str
    length: int | None = None  # bytes
    package: str = ""

    @classmethod
    def of(cls, content: bytes) -> Self:
        return cls(sha256(content).hexdigest(), len(content))

    @classmethod
    def parse(cls, text: str) -> Self:
        package, _, name = ("", "", text.removeprefix(SHA256)) if is_reference(text) else text.partition(f" {SHA256}")
        digest, _, length = name.partition(":")
        known = len(length) < 12 and length.isascii() and length.isdigit() and int(length) <= MOST_BYTES
        return cls(digest, int(length) if known else None, package)

    def __str__(self) -> str:
        length = "" if self.length is None else f":{self.length}"
        return f"{self.package} {SHA256}{self.digest}".lstrip() + length

    @property
    def valid(self) -> bool:
        return DIGEST.fullmatch(self.digest) is not None

    def is_content_of(self, path: str) -> bool:
        """Does the file have this content?"""
        return sha256(content_of(path)).hexdigest() == self.digest


def is_reference(path: str) -> bool:
    """Is it the content of a file? Jobs and saved predictors have a reference where a setting has a path."""
    return path.startswith(SHA256)


def encoder_sentence(encoder: str | None, where: str = WITH_THE_JOB) -> str:
    """For people: which encoder a reference names, and where to get it."""
    if encoder is None:
        return ""
    reference = EncoderReference.parse(encoder)
    if is_reference(encoder):
        return f"a file that {where} (--encoder FILE), SHA-256 {reference.digest}"
    return f"{reference.package}, which comes with mooring[encoder], SHA-256 {reference.digest}"


def hash_and_length(path: str) -> str:
    """`sha256:HASH:BYTES` of a file; a reference stays itself."""
    return path if is_reference(path) else str(EncoderReference.of(content_of(path)))


def hash_only(path: str) -> str:
    """`sha256:HASH` of a file; a reference stays itself."""
    return path if is_reference(path) else str(EncoderReference(EncoderReference.of(content_of(path)).digest))


def length_of(path: str) -> int:
    """Bytes of a file, as its reference or the disk has them."""
    if not is_reference(path):
        return len(content_of(path))
    length = EncoderReference.parse(path).length
    if length is None:
        raise ModelError(f"{WHERE}={path[:90]!a}: has no length in bytes", "save it again")
    return length


def content_of(path: str) -> bytes:
    """The bytes of a file that is not too large to be an encoder."""
    if is_reference(path):
        raise ModelError(f"{WHERE}={path[:20]}...: is known by its hash alone", f"name the file itself, {WHERE}=FILE")
    try:
        size = Path(path).stat().st_size
        if size > MOST_BYTES:
            raise ModelError(f"{WHERE}={path}: has {size} bytes; at most {MOST_BYTES}", "name a smaller encoder")
        return Path(path).read_bytes()
    except OSError as error:
        raise ModelError(
            f"{WHERE}={path}: cannot be read ({error.strerror or error})", "name an existing file"
        ) from None
