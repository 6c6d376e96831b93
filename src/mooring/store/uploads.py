"""Uploads on disk: one safetensors file per client and round, known by its SHA-256."""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save

from mooring.errors import StoreError
from mooring.store.files import write_atomically
from mooring.types import Upload

FORMAT = 1


def write_upload(folder: Path, payload: Upload) -> dict[str, object]:
    """Write one upload; what `result.json` says of it."""
    data = encode(payload)
    write_atomically(upload_path(folder, payload.client, payload.round), data)
    return {**facts_of(payload), "bytes": len(data), "sha256": sha256(data).hexdigest()}


def read_upload(folder: Path, record: Mapping[str, Any]) -> Upload:
    """Read an upload again; refused if it is not what was written."""
    path = upload_path(folder, record["client"], record["round"])
    try:
        data = path.read_bytes()
        if sha256(data).hexdigest() != record["sha256"]:
            raise StoreError(f"{path}: the upload has changed since it was written", "repeat the run with --again")
        return Upload(record["client"], record["round"], record["samples"], load(data))
    except (OSError, SafetensorError) as error:
        raise StoreError(f"{path}: cannot be read ({error})", "repeat the run with --again") from None


def found_uploads(folder: Path) -> Iterator[dict[str, Any]]:
    """What `result.json` would say of every upload that is there and can be read."""
    for path in sorted((folder / "uploads").glob("round-*/client-*.safetensors")):
        try:
            data = path.read_bytes()
            facts = json.loads(metadata(data)["mooring"])
            yield {name: facts[name] for name in ("client", "round", "samples")} | {
                "bytes": len(data),
                "sha256": sha256(data).hexdigest(),
            }
        except (OSError, ValueError, KeyError):
            continue


def upload_path(folder: Path, client: int, round_: int) -> Path:
    return folder / "uploads" / f"round-{round_:03d}" / f"client-{client:04d}.safetensors"


def facts_of(payload: Upload) -> dict[str, object]:
    return {"client": payload.client, "round": payload.round, "samples": payload.samples}


def encode(payload: Upload) -> bytes:
    """An upload as it travels: one safetensors file."""
    return save(dict(payload.tensors), {"mooring": json.dumps({"format": FORMAT, **facts_of(payload)})})


def metadata(data: bytes) -> dict[str, str]:
    """The words in the header of a safetensors file."""
    size = int.from_bytes(data[:8], "little")
    words: dict[str, str] = json.loads(data[8 : 8 + size])["__metadata__"]
    return words
