"""The run folder: the only code that writes results. Atomic, locked while in use, nothing pickled.

experiment.yaml    the full configuration        events.jsonl    what happened, in order, append only
environment.json   versions and machine          uploads/        one safetensors file per client and round
result.json        the answer, strict JSON       fusions/        other fusions of the same uploads
"""

import fcntl
import json
import math
import os
import platform
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import time
from typing import Any, TextIO

from safetensors import SafetensorError
from safetensors.torch import load, save

from mooring.errors import StoreError
from mooring.types import Event, Payload

FORMAT = 1
VERSIONED = ("mooring", "torch", "numpy", "scipy", "scikit-learn", "safetensors")


class RunStore:
    """One run folder, held open by one process."""

    def __init__(self, folder: Path, events: TextIO) -> None:
        self.folder = folder
        self._events = events

    def record(self, event: Event) -> None:
        self._events.write(strict_json({"time": time(), "event": event.name, **event.fields}) + "\n")
        self._events.flush()

    def save_upload(self, payload: Payload) -> dict[str, object]:
        """Write one upload; what `result.json` says of it."""
        data = encode(payload)
        write_atomically(upload_path(self.folder, payload.client, payload.round), data)
        return {**facts_of(payload), "bytes": len(data), "sha256": sha256(data).hexdigest()}

    def load_upload(self, record: Mapping[str, Any]) -> Payload:
        return read_upload(self.folder, record)

    def finish(self, result: Mapping[str, object]) -> None:
        write_atomically(self.folder / "result.json", (strict_json(result, indent=1) + "\n").encode())


def upload_path(folder: Path, client: int, round_: int) -> Path:
    return folder / "uploads" / f"round-{round_:03d}" / f"client-{client:04d}.safetensors"


def facts_of(payload: Payload) -> dict[str, object]:
    return {"client": payload.client, "round": payload.round, "samples": payload.samples}


def encode(payload: Payload) -> bytes:
    """An upload as it travels: one safetensors file."""
    return save(dict(payload.tensors), {"mooring": json.dumps({"format": FORMAT, **facts_of(payload)})})


def discard_states(folder: Path) -> int:
    """Remove the states of a run; how many bytes that were."""
    states = [path for path in (folder / "state").glob("*") if path.is_file()]
    nbytes = sum(path.stat().st_size for path in states)
    shutil.rmtree(folder / "state", ignore_errors=True)
    return nbytes


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


def metadata(data: bytes) -> dict[str, str]:
    """The words in the header of a safetensors file."""
    size = int.from_bytes(data[:8], "little")
    words: dict[str, str] = json.loads(data[8 : 8 + size])["__metadata__"]
    return words


def read_upload(folder: Path, record: Mapping[str, Any]) -> Payload:
    """Read an upload again; refused if it is not what was written."""
    path = upload_path(folder, record["client"], record["round"])
    try:
        data = path.read_bytes()
        if sha256(data).hexdigest() != record["sha256"]:
            raise StoreError(f"{path}: the upload has changed since it was written", "repeat the run with --again")
        return Payload(record["client"], record["round"], record["samples"], load(data))
    except (OSError, SafetensorError) as error:
        raise StoreError(f"{path}: cannot be read ({error})", "repeat the run with --again") from None


@contextmanager
def opened(folder: Path, experiment_yaml: str, going_on: bool = False) -> Iterator[RunStore]:
    """A run folder, locked for as long as the block lasts; what was in it is removed unless the run goes on."""
    with locked(folder):
        ours = (folder / "experiment.yaml").exists()
        foreign = [path.name for path in folder.iterdir() if path.name != ".lock"]
        if foreign and not ours:
            raise StoreError(f"out={folder}: holds {foreign[0]!r} and no run", "choose an empty folder with out=...")
        if not going_on:
            for name in ("events.jsonl", "result.json"):
                (folder / name).unlink(missing_ok=True)
            for name in ("uploads", "fusions", "state"):
                shutil.rmtree(folder / name, ignore_errors=True)
        write_atomically(folder / "experiment.yaml", experiment_yaml.encode())
        write_atomically(folder / "environment.json", (strict_json(environment(), indent=1) + "\n").encode())
        with (folder / "events.jsonl").open("a", encoding="utf-8") as events:
            if events.tell():
                events.write("\n")  # the last line may have been cut off by a crash
            yield RunStore(folder, events)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder, for this process alone; the lock ends with the process, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise StoreError(
            f"out={folder}: cannot be written ({error.strerror})", "choose another folder with out=..."
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(
                f"out={folder}: another run is using this folder", "wait for it or choose another folder with out=..."
            ) from None
        yield


def in_use(folder: Path) -> bool:
    """Is a process working in this folder right now?"""
    try:
        with (folder / ".lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def finished(folder: Path, fingerprint: str) -> dict[str, Any] | None:
    """The result in this folder if it is the complete result of this very experiment."""
    path = folder / "result.json"
    try:
        if not path.exists():
            return None
    except OSError as error:
        raise StoreError(
            f"out={folder}: cannot be read ({error.strerror})", "choose another folder with out=..."
        ) from None
    result = read_result(folder)
    if result.get("fingerprint") != fingerprint:
        raise StoreError(
            f"out={folder}: holds the result of another experiment ({result.get('method')}, "
            f"fingerprint {str(result.get('fingerprint'))[:8]})",
            "choose another folder with out=..., or repeat with --again to replace it",
        )
    return result if result.get("complete") else None


def read_result(folder: Path) -> dict[str, Any]:
    path = folder / "result.json"
    try:
        result = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", "name the folder of a finished run") from None
    except ValueError:
        raise StoreError(f"{path}: is not valid JSON", "repeat the run with --again") from None
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise StoreError(f"{path}: is not a result of this version (format {FORMAT})", "repeat the run with --again")
    return result


def read_events(folder: Path) -> list[dict[str, Any]]:
    """What happened, in order; a last line that was cut off by a crash is left out."""
    path = folder / "events.jsonl"
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", "name the folder of a run") from None
    events = []
    for line in lines:
        try:
            events.append(json.loads(line))
        except ValueError:  # empty, or cut off
            continue
    return events


def write_atomically(path: Path, data: bytes) -> None:
    """All of it or nothing: a reader never sees half a file, and neither does a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: cannot be written ({error.strerror})", "free some space or choose another out=..."
        ) from None


def strict_json(value: object, indent: int | None = None) -> str:
    """JSON that every reader understands: a number that is not finite becomes null."""
    return json.dumps(_finite(value), indent=indent, allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value


def environment() -> dict[str, object]:
    """What the bytes of a run depend on beyond its configuration."""
    versions = {}
    for package in VERSIONED:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "unknown"
    return {
        "python": platform.python_version(),
        "packages": versions,
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
