"""Tensors and a few facts as bytes, and back: one codec for disk, pipe, file and network.

The layout is the safetensors format, which many tools can open: 8 bytes with the length of the header, the header
(JSON: name -> type, shape, place), the tensors. Facts are in the header's metadata, with a SHA-256 of everything else.
A file that was changed on the way is rejected. Nothing is unpickled, and nothing is allocated before the header is
checked.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from math import prod
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from mooring.errors import UploadError
from mooring.schema import Tree, canonical_json
from mooring.types import Upload
from mooring.uploads._pieces import Piece, Pieces

FORMAT = 2
LENGTH = 8  # bytes that hold the length of the header
ALIGNMENT = 8
METADATA, FACTS, DIGEST = "__metadata__", "mooring", "sha256"
DTYPES = {  # in the order in which tensors lie in the file, the widest first
    "I64": torch.int64,
    "F64": torch.float64,
    "F32": torch.float32,
    "I32": torch.int32,
    "BF16": torch.bfloat16,
    "F16": torch.float16,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
DIMENSIONS = 8  # of one tensor
LARGEST = 2**63 - 1
MAX_NAME_LENGTH = 200  # letters of the name of a site
LONGEST_FACTS = 4096  # bytes in the header, whatever the name of the site
AGAIN = "ask for it to be sent again"


@dataclass(frozen=True)
class Limits:
    """How much a receiver takes: of all bytes, of the header, of tensors, and of letters in a tensor's name."""

    bytes: int = 2**32
    header_bytes: int = 2**24
    tensors: int = 2**18
    name_length: int = 256


USUAL = Limits()


def limits_for(expected: Mapping[str, Tensor]) -> Limits:
    """What an upload of these tensors can measure at most; only the name of its site is not known beforehand."""
    header = len(compact(entries_of(expected))) + LONGEST_FACTS
    data = sum(tensor.nbytes for tensor in expected.values())
    return Limits(LENGTH + header + data, header, len(expected), max(map(len, expected), default=0))


def encode(upload: Upload) -> bytes:
    """An upload as it travels."""
    if not is_printable_line(upload.site):
        raise UploadError(
            f"client {upload.client}: the name of its site is {ascii_repr(upload.site)}",
            f"use at most {MAX_NAME_LENGTH} printable letters",
        )
    facts = {"client": upload.client, "site": upload.site, "round": upload.round, "samples": upload.samples}
    return encode_tensors(upload.tensors, {**facts, "job": upload.job})


def decode(data: Piece, limits: Limits = USUAL) -> Upload:
    """An upload, if it is one: any other sequence of bytes raises a one-line error."""
    header = header_of(data, limits, "upload")
    facts = header_facts(header, "upload")
    client = count_fact(facts, "client", "upload")
    who = f"client {client}"
    counts = {name: count_fact(facts, name, who) for name in ("round", "samples")}
    site, job = (text_fact(facts, name, who) for name in ("site", "job"))
    return Upload(client, counts["round"], counts["samples"], tensors_of(header, data, limits, who), site, job)


def encode_tensors(tensors: Mapping[str, Tensor], facts: Tree) -> bytes:
    """Tensors and facts; the same bytes for the same content."""
    return encode_in_pieces(tensors, facts).joined()


def encode_in_pieces(tensors: Mapping[str, Tensor], facts: Tree) -> Pieces:
    """The same bytes, one tensor after the other."""
    entries = entries_of(tensors)

    def bodies() -> Iterator[memoryview]:
        return (raw(tensors[name].detach().cpu().contiguous()).data for name in entries)

    metadata = {FACTS: canonical_json({"format": FORMAT, **facts})}
    metadata[DIGEST] = digest_of(entries, metadata, bodies())
    header = compact({METADATA: metadata, **entries})
    header += b" " * (-len(header) % ALIGNMENT)
    start = len(header).to_bytes(LENGTH, "little") + header
    size = len(start) + sum(tensor.nbytes for tensor in tensors.values())
    return Pieces(size, lambda: chain((start,), bodies()))


def decode_tensors(data: Piece, limits: Limits = USUAL, what: str = "file") -> tuple[Tree, dict[str, Tensor]]:
    """Facts and tensors; `what` names the bytes in errors."""
    header = header_of(data, limits, what)
    return header_facts(header, what), tensors_of(header, data, limits, what)


def header_of(data: Piece, limits: Limits, what: str) -> Tree:
    """The header of as many bytes as were allowed, as JSON."""
    if len(data) > limits.bytes:
        reject_upload(what, f"has {len(data)} bytes and may have {limits.bytes}")
    size = int.from_bytes(data[:LENGTH], "little")
    if len(data) < LENGTH or size > len(data) - LENGTH:
        reject_upload(what, f"ends after {len(data)} bytes, within its header")
    if size > limits.header_bytes:
        reject_upload(what, f"has a header of {size} bytes and may have one of {limits.header_bytes}")
    try:
        return parse_json_object(bytes(data[LENGTH : LENGTH + size]).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reject_upload(what, f"has a header that cannot be read ({ascii_repr(str(error))})")


def header_facts(header: Tree, what: str) -> Tree:
    """The facts in the metadata of a header."""
    metadata = header.get(METADATA)
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        reject_upload(what, "has no metadata in its header")
    if FACTS not in metadata:
        reject_upload(what, "was not written by mooring")
    try:
        facts = parse_json_object(metadata[FACTS])
    except (ValueError, RecursionError) as error:
        reject_upload(what, f"has facts that cannot be read ({ascii_repr(str(error))})")
    version = facts.get("format")
    if type(version) is not int or version != FORMAT:
        reject_upload(what, f"has format {ascii_repr(version)}; this version reads {FORMAT}")
    if DIGEST not in metadata:
        reject_upload(what, "has no SHA-256 in its header")
    return facts


def tensors_of(header: Tree, data: Piece, limits: Limits, what: str) -> dict[str, Tensor]:
    """All tensors, once every place in the bytes has been claimed exactly once."""
    entries = {name: entry for name, entry in header.items() if name != METADATA}
    if len(entries) > limits.tensors:
        reject_upload(what, f"has {len(entries)} tensors and may have {limits.tensors}")
    body = memoryview(data)[LENGTH + int.from_bytes(data[:LENGTH], "little") :]
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: tensor_place(item[1], what)):
        if len(name) > limits.name_length:
            reject_upload(what, f"has a tensor whose name has {len(name)} letters and may have {limits.name_length}")
        start, stop = tensor_place(entry, what)
        if start != end or stop < start:
            reject_upload(what, f"tensor {ascii_repr(name)} lies at {start} to {stop}, not from {end} on")
        if size_of(name, entry, what) != stop - start:
            reject_upload(what, f"tensor {ascii_repr(name)} has {stop - start} bytes for shape {entry['shape']}")
        end = stop
    if end != len(body):
        reject_upload(what, f"has {len(body)} bytes of tensors, {end} of them named")
    metadata = {key: value for key, value in header[METADATA].items() if key != DIGEST}
    if digest_of(entries, metadata, [body]) != header[METADATA][DIGEST]:
        reject_upload(what, "was changed on the way: its SHA-256 is another")
    return {name: tensor_of(name, entry, body, what) for name, entry in entries.items()}


def tensor_place(entry: Any, what: str) -> tuple[int, int]:
    """Where a tensor begins and ends."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        reject_upload(what, f"has a tensor described by {ascii_repr(entry)}")
    place = entry["data_offsets"]
    if not isinstance(place, list) or len(place) != 2 or not all(map(is_byte_count, place)):
        reject_upload(what, f"has a tensor at {ascii_repr(place)}")
    return place[0], place[1]


def size_of(name: str, entry: Tree, what: str) -> int:
    """Bytes of a tensor of this type and shape."""
    dtype, shape = entry["dtype"], entry["shape"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        reject_upload(what, f"tensor {ascii_repr(name)} has type {ascii_repr(dtype)}; known: {', '.join(DTYPES)}")
    if not isinstance(shape, list) or len(shape) > DIMENSIONS or not all(map(is_byte_count, shape)):
        reject_upload(what, f"tensor {ascii_repr(name)} has shape {ascii_repr(shape)}")
    if prod(max(1, side) for side in shape) > LARGEST:  # one side may be 0, and the others beyond all measure
        reject_upload(what, f"tensor {ascii_repr(name)} has shape {ascii_repr(shape)}")
    return prod(shape) * DTYPES[dtype].itemsize


def tensor_of(name: str, entry: Tree, body: memoryview, what: str) -> Tensor:
    """A copy, where torch would have put it: how memory is aligned may decide the last bit of a product."""
    start, stop = entry["data_offsets"]
    tensor = torch.empty(entry["shape"], dtype=DTYPES[entry["dtype"]])
    raw(tensor)[:] = np.frombuffer(body[start:stop], np.uint8)
    if tensor.dtype == torch.bool and (raw(tensor) > 1).any():
        reject_upload(what, f"tensor {ascii_repr(name)} holds neither true nor false")
    return tensor


def entries_of(tensors: Mapping[str, Tensor]) -> Tree:
    """What a header says of tensors, in the order in which they lie: by type, the widest first, then by name."""
    for name, tensor in tensors.items():
        if tensor.dtype not in NAMES:
            raise UploadError(f"tensor {ascii_repr(name)} holds {tensor.dtype}", f"known: {', '.join(DTYPES)}")
    order = list(NAMES)
    entries: Tree = {}
    start = 0
    for name in sorted(tensors, key=lambda name: (order.index(tensors[name].dtype), name)):
        tensor = tensors[name]
        end = start + tensor.nbytes
        entries[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
        start = end
    return entries


def raw(tensor: Tensor) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    """The bytes of a contiguous tensor, not copied."""
    return tensor.reshape(-1).view(torch.uint8).numpy()


def digest_of(entries: Tree, metadata: Tree, pieces: Iterable[Piece]) -> str:
    """SHA-256 of everything but itself, however the header is spelled.

    The text is `canonical_json`'s, which would look for numbers like 5.0 first: here sizes are whole, all else is text.
    """
    content = sha256(json.dumps([entries, metadata], sort_keys=True, separators=(",", ":")).encode())
    for piece in pieces:
        content.update(piece)
    return content.hexdigest()


def count_fact(facts: Tree, name: str, what: str) -> int:
    """A number that every upload holds."""
    value = facts.get(name)
    if not is_byte_count(value):
        reject_upload(what, f"has {name}={ascii_repr(value)}, which is not a whole number of 0 or more")
    assert isinstance(value, int)
    return value


def text_fact(facts: Tree, name: str, what: str) -> str:
    """A text that every upload holds."""
    value = facts.get(name)
    if not isinstance(value, str) or not is_printable_line(value):
        reject_upload(
            what, f"has {name}={ascii_repr(value)}, which is not a line of at most {MAX_NAME_LENGTH} printable letters"
        )
    return value


def is_printable_line(text: str) -> bool:
    return len(text) <= MAX_NAME_LENGTH and text.isprintable()


def is_byte_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def parse_json_object(text: str) -> Tree:
    """A JSON object whose keys are given once and whose numbers are numbers."""

    def unique(pairs: list[tuple[str, Any]]) -> Tree:
        tree = dict(pairs)
        if len(tree) < len(pairs):
            raise ValueError("a key is given twice")
        return tree

    def constant(word: str) -> NoReturn:
        raise ValueError(f"{word} is not a number")

    tree = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    if not isinstance(tree, dict):
        raise ValueError(f"a {type(tree).__name__} is not a mapping")
    return tree


def compact(tree: Tree) -> bytes:
    """JSON in the order given."""
    return json.dumps(tree, separators=(",", ":")).encode()


def ascii_repr(value: object) -> str:
    """A value in an error: one short line of ASCII, whatever somebody sent."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def reject_upload(what: str, problem: str) -> NoReturn:
    raise UploadError(f"{what}: {problem}", AGAIN)
