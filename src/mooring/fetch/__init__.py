"""Public data sets from their official addresses: the only code that downloads anything."""

from pathlib import Path

from mooring.data.locate import data_root
from mooring.errors import DataError
from mooring.events import Emit
from mooring.fetch.download import PAUSES, Pauses, download
from mooring.fetch.public_set import OFFICIAL, Archive, Files, PublicSet, Remote


def fetch(chosen: PublicSet, root: str | None = None, emit: Emit = lambda _: None, pauses: Pauses = PAUSES) -> Path:
    """Bring a set to the folder where its source looks for it; what is there already is not fetched again."""
    base = data_root(root)
    try:
        if not chosen.there(base):
            for remote in chosen.remotes:
                download(remote, base / remote.place, emit, pauses)
            chosen.settle(base)
    except OSError as error:
        raise DataError(f"{base}: cannot be used ({error.strerror})", "choose another folder with --root") from error
    return base / chosen.folder


__all__ = ["OFFICIAL", "Archive", "Files", "PublicSet", "Remote", "fetch"]
