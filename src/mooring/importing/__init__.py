"""Logs of the published code as run folders, so that old experiments stand in the same reports as new ones."""

from hashlib import sha256
from pathlib import Path

from mooring.config import as_yaml
from mooring.config.label import folder_name
from mooring.importing.experiment import experiment_of
from mooring.importing.logged import Logged
from mooring.importing.parse import read_logs
from mooring.importing.records import events_of, result_of
from mooring.record import Imported, Origin, Result, write_imported

RUNS, UNKNOWN = Path("runs"), "unknown"


def import_log(path: Path, out: Path | None = None) -> list[tuple[Path, Result]]:
    """The folder and the result of every experiment in the log; several experiments share `out`, one folder each."""
    imported = read_imports(path)
    folders = [folder_of(one, len(imported), out) for one in imported]
    return [(folder, write_imported(folder, one)) for folder, one in zip(folders, imported, strict=True)]


def read_imports(path: Path) -> list[Imported]:
    """Every experiment of the log as a run that is not on disk yet."""
    return [imported_from(logged, path.name) for logged in read_logs(path)]


def imported_from(logged: Logged, log: str) -> Imported:
    """Everything that goes into the folder."""
    tree = experiment_of(logged)
    origin = Origin(log, sha256(logged.text.encode()).hexdigest(), logged.server[0] or None)
    head = f"# Imported from {log}: what it tells. Read again, the rest would be this version's defaults.\n"
    return Imported(logged.text, head + as_yaml(tree), tree, events_of(logged), result_of(logged, tree, origin), origin)


def folder_of(imported: Imported, experiments: int, out: Path | None) -> Path:
    result = imported.result
    name = f"{folder_name(f'{result.dataset or UNKNOWN}-{result.method}')}-imported-{imported.origin.sha256[:8]}"
    if out is None:
        return RUNS / name
    return out if experiments == 1 else out / name


__all__ = ["import_log", "imported_from", "read_imports"]
