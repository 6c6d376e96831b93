"""Run folders that were not run here: made of a log, which stays beside what was read from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mooring.errors import StoreError
from mooring.store.files import strict_json, write_atomically
from mooring.store.folder import locked
from mooring.store.reading import read_result

LOG = "imported.log"


@dataclass(frozen=True)
class Imported:
    """What goes into the folder."""

    log: str
    experiment_yaml: str
    events: Sequence[Mapping[str, Any]]
    result: dict[str, Any]


def write_imported(folder: Path, record: Imported) -> None:
    """All of it, the result last; the same log may be imported again, anything else in the folder is left alone."""
    with locked(folder):
        refuse_foreign(folder, record.result["log_sha256"])
        write_atomically(folder / LOG, record.log.encode())
        write_atomically(folder / "experiment.yaml", record.experiment_yaml.encode())
        lines = [strict_json(event) + "\n" for event in record.events]
        write_atomically(folder / "events.jsonl", "".join(lines).encode())
        write_atomically(folder / "result.json", (strict_json(record.result, indent=1) + "\n").encode())


def refuse_foreign(folder: Path, digest: str) -> None:
    """An import that was interrupted left a log and no result."""
    result = folder / "result.json"
    mine = read_result(folder).get("log_sha256") == digest if result.exists() else (folder / LOG).exists()
    other = [path.name for path in sorted(folder.iterdir()) if path.name != ".lock"]
    if other and not mine:
        raise StoreError(f"out={folder}: holds {other[0]!r} of something else", "choose an empty folder with out=...")
