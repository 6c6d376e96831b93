"""Logs of the published code as run folders, so that old experiments stand in the same reports as new ones."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from mooring.config import as_yaml
from mooring.importing.experiment import experiment_of
from mooring.importing.record import events_of, result_of
from mooring.published import Logged, read_logs
from mooring.store import Imported, write_imported

RUNS = Path("runs")


def import_log(path: Path, out: Path | None = None) -> list[tuple[Path, dict[str, Any]]]:
    """The folder and the result of every experiment in the log; several experiments share `out`, one folder each."""
    logs = read_logs(path)
    imported = [imported_from(logged, path.name) for logged in logs]
    folders = [folder_of(record.result, len(logs), out) for record in imported]
    for folder, record in zip(folders, imported, strict=True):
        write_imported(folder, record)
    return [(folder, record.result) for folder, record in zip(folders, imported, strict=True)]


def imported_from(logged: Logged, log: str) -> Imported:
    """Everything that goes into the folder."""
    digest = sha256(logged.text.encode()).hexdigest()
    tree = experiment_of(logged)
    head = f"# Imported from {log}: what it tells. Read again, the rest would be this version's defaults.\n"
    return Imported(logged.text, head + as_yaml(tree), events_of(logged), result_of(logged, tree, log, digest))


def folder_of(result: dict[str, Any], experiments: int, out: Path | None) -> Path:
    name = f"{result['dataset'] or 'unknown'}-{result['method']}-imported-{result['log_sha256'][:8]}"
    if out is None:
        return RUNS / name
    return out if experiments == 1 else out / name


__all__ = ["import_log", "imported_from"]
