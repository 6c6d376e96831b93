"""Which runs a folder holds: itself, or those of a sweep."""

from collections.abc import Iterator
from pathlib import Path

from mooring.errors import StoreError

EVENTS = "events.jsonl"


def runs_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """(name, folder) of the run, or of every run in `<sweep>/runs` that has begun."""
    home = folder.absolute()
    if (folder / EVENTS).is_file():
        yield home.name, folder
        return
    members = sorted(path.parent for path in folder.glob(f"runs/*/{EVENTS}"))
    if not members:
        raise StoreError(f"{folder}: is neither a run nor a sweep", "name a folder with events.jsonl or runs/ in it")
    for member in members:
        yield f"{home.name}/{member.name}", member
