"""Downloads public data sets from their official addresses; no other code opens a connection for data."""

from pathlib import Path

from mooring.data import SOURCES, Download, data_root
from mooring.errors import DataError
from mooring.events import Emit
from mooring.fetch._download import PAUSES, Pauses, download, unpack

OFFICIAL: dict[str, Download] = {name: cls.download for name, cls in SOURCES.items() if cls.download is not None}


def fetch(chosen: Download, root: str | None = None, emit: Emit = lambda _: None, pauses: Pauses = PAUSES) -> Path:
    """Bring a data set to the folder where its source looks for it; files that are there are not fetched again."""
    base = data_root(root)
    folder = base / chosen.folder
    try:
        if not all((base / file).is_file() for file in chosen.files):
            for remote in chosen.remotes:
                download(remote, base / remote.place, emit, pauses)
                if chosen.members is not None:
                    unpack(base / remote.place, folder, chosen.members)
    except OSError as error:
        raise DataError(f"{base}: cannot be used ({error.strerror})", "choose another folder with --root") from error
    return folder


__all__ = ["OFFICIAL", "fetch"]
