"""Files that a map is made of, named by what is in them: the same wherever they lie, another when they have changed."""

from hashlib import sha256

from mooring.errors import ModelError
from mooring.models.encoders.onnx_file import MOST_BYTES, read_bounded

SHA256 = "sha256:"  # before the name of a file's content
WHERE = "encoder"


def content_of(path: str) -> bytes:
    """The bytes of a file at hand."""
    if path.startswith(SHA256):
        raise ModelError(f"{WHERE}={path[:20]}...: is known by its hash alone", f"name the file itself, {WHERE}=FILE")
    return read_bounded(path, WHERE)


def named_content(path: str) -> str:
    """`sha256:HASH:BYTES`; a name stays itself: a saved predictor has the file within it."""
    if path.startswith(SHA256):
        return path
    data = content_of(path)
    return f"{SHA256}{sha256(data).hexdigest()}:{len(data)}"


def digest_in(name: str) -> str:
    """The 64 digits in `sha256:HASH` or `sha256:HASH:BYTES`."""
    return name.removeprefix(SHA256).partition(":")[0]


def length_of(path: str) -> int:
    """Bytes of the file, as its name or the disk tells."""
    if not path.startswith(SHA256):
        return len(content_of(path))
    length = path.rpartition(":")[2]
    if not (length.isascii() and length.isdigit() and int(length) <= MOST_BYTES):
        raise ModelError(f"{WHERE}={path[:90]!a}: does not tell how many bytes it has", "save it again")
    return int(length)
