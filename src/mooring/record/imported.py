"""Run folders of imported runs: the log, and what was read from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mooring.errors import StoreError
from mooring.events import Event
from mooring.record._events import EVENTS, TimedEvent, event_line, header
from mooring.record.files import LOCK, locked, write_atomically
from mooring.record.folder import EXPERIMENT, LOG, RunFolder, write_result
from mooring.record.result import ImportedResult, Origin, Settings
from mooring.record.run import RunRecord, run_record


@dataclass(frozen=True)
class Imported:
    """What goes into the folder."""

    log: str
    experiment_yaml: str
    settings: Settings  # the same as a tree
    events: Sequence[Event]
    result: ImportedResult

    @property
    def record(self) -> RunRecord:
        """As if it were read from its folder."""
        return run_record(self.result.origin.log, [TimedEvent(None, event) for event in self.events], self.result)


def write_imported(folder: Path, imported: Imported) -> ImportedResult:
    """Write everything, the result last, and return the result as it was written.

    The same log may be imported again; a folder with anything else in it is an error.
    """
    with locked(folder):
        reject_foreign(folder, imported.result.origin)
        write_atomically(folder / LOG, imported.log.encode())
        write_atomically(folder / EXPERIMENT, imported.experiment_yaml.encode())
        lines = [header(), *(event_line(event, None) for event in imported.events)]
        write_atomically(folder / EVENTS, "".join(lines).encode())
        return write_result(folder, imported.result)


def reject_foreign(folder: Path, origin: Origin) -> None:
    """An import that was interrupted left a log and no result."""
    here = RunFolder(folder)
    earlier = here.result.origin if here.ended else None
    mine = (earlier is not None and earlier.sha256 == origin.sha256) if here.ended else (folder / LOG).exists()
    other = [path.name for path in sorted(folder.iterdir()) if path.name != LOCK]
    if other and not mine:
        raise StoreError(f"out={folder}: holds {other[0]!r} of something else", "choose an empty folder with out=...")
