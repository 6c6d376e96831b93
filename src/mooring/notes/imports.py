"""Logs of the published code as run folders, and its configurations in our keys, so that old work goes on here."""

from pathlib import Path

from mooring.config import as_yaml
from mooring.config.label import folder_name
from mooring.notes.config_file import Translation, translate
from mooring.notes.identify import identify
from mooring.notes.imported_record import events_of, origin_of, result_of
from mooring.notes.logged import Logged
from mooring.notes.logged_settings import settings_of
from mooring.notes.read_log import read_logs
from mooring.record import Imported, ImportedResult, write_imported

RUNS, UNKNOWN = Path("runs"), "unknown"
HEAD = "# Imported from {log}: what it tells. What it does not tell is null, and nothing here is a default.\n"


def import_log(path: Path, out: Path | None = None) -> list[tuple[Path, ImportedResult]]:
    """The folder and the result of every experiment in the log; several experiments share `out`, one folder each."""
    imported = read_imports(path)
    folders = [import_folder(one, len(imported), out) for one in imported]
    return [(folder, write_imported(folder, one)) for folder, one in zip(folders, imported, strict=True)]


def read_imports(path: Path) -> list[Imported]:
    """Every experiment of the log as a run that is not on disk yet."""
    return [imported_from(logged, path.name) for logged in read_logs(path)]


def imported_from(logged: Logged, log: str) -> Imported:
    """Everything that goes into the folder."""
    identified = identify(logged)
    tree, origin = settings_of(logged, identified), origin_of(logged, identified, log)
    result = result_of(logged, identified, tree, origin)
    return Imported(logged.text, HEAD.format(log=log) + as_yaml(tree), tree, events_of(logged, identified), result)


def import_folder(imported: Imported, experiments: int, out: Path | None) -> Path:
    result = imported.result
    name = f"{folder_name(f'{result.dataset or UNKNOWN}-{result.method}')}-imported-{result.origin.sha256[:8]}"
    if out is None:
        return RUNS / name
    return out if experiments == 1 else out / name


__all__ = ["Translation", "import_log", "imported_from", "read_imports", "translate"]
