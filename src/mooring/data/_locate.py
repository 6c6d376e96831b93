"""Where data is stored on disk, and where public data comes from."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mooring.errors import DataError

VARIABLE = "MOORING_DATA"


@dataclass(frozen=True)
class Remote:
    """One file at its official address, its checksum as torchvision publishes it, and its place under the data root."""

    url: str
    md5: str
    place: str


@dataclass(frozen=True)
class Download:
    """The official files of a public data set. The archive is kept, to unpack a damaged folder again.

    `folder` is where the source looks for the files, under the data root. `members` are the files that an archive
    holds in a folder of the same name; None: the files are used as they arrive.
    """

    folder: str
    remotes: tuple[Remote, ...]
    members: tuple[str, ...] | None = None

    @classmethod
    def of_files(cls, address: str, folder: str, md5s: Mapping[str, str]) -> "Download":
        """Files side by side at one address, by their checksums."""
        return cls(folder, tuple(Remote(f"{address}/{name}", md5, f"{folder}/{name}") for name, md5 in md5s.items()))

    @classmethod
    def of_archive(cls, url: str, md5: str, folder: str, members: tuple[str, ...]) -> "Download":
        """Members of one tar file."""
        return cls(folder, (Remote(url, md5, url.rpartition("/")[2]),), members)

    @property
    def files(self) -> tuple[str, ...]:
        """All files that the source reads, under the data root."""
        if self.members is None:
            return tuple(remote.place for remote in self.remotes)
        return tuple(f"{self.folder}/{member}" for member in self.members)


def data_root(root: str | None) -> Path:
    """The given root, else $MOORING_DATA, else ~/.cache/mooring; always absolute, for clear messages."""
    return _absolute(root or os.environ.get(VARIABLE) or "~/.cache/mooring")


def own_path(root: str | None, wanted: str) -> Path:
    """The path of a user's own data, which has no default: any guess would train on something else."""
    if not root:
        raise DataError("data.root is not set", f"set data.root to {wanted}")
    path = _absolute(root)
    try:
        path.stat()
    except FileNotFoundError as error:
        raise DataError(f"data.root: there is no {path}", f"set data.root to {wanted}") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}", f"set data.root to {wanted}") from error
    return path


def find(
    root: str | None, names: Sequence[str], folders: Sequence[str], get: str, suffixes: Sequence[str] = ("",)
) -> tuple[Path, ...]:
    """The paths of `names` in the first of `folders` that holds all of them.

    Folders are relative to the data root unless absolute. `get` says how to get the files. Each name may end in
    any of `suffixes`.
    """
    base = data_root(root)
    candidates = [base / folder for folder in folders]
    missing: list[str] = []
    for folder in candidates:
        paths = [_with_suffix(folder / name, suffixes) for name in names]
        found = tuple(path for path in paths if path is not None)
        if len(found) == len(names):
            return found
        if found and not missing:  # an incomplete copy: name what it lacks rather than all files
            missing = [str(folder / name) for name, path in zip(names, paths, strict=True) if path is None]
    problem = f"{', '.join(missing or names)} not found"
    places = " or ".join(str(folder) for folder in candidates)
    raise DataError(problem, f"expected in {places}: {get}, or set data.root or {VARIABLE} to where the files are")


def _absolute(path: str) -> Path:
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:  # ~someone without a home
        raise DataError(f"{path} names no folder: {error}", "give data.root as an absolute path") from error


def _with_suffix(path: Path, suffixes: Sequence[str]) -> Path | None:
    for suffix in suffixes:
        candidate = path.with_name(path.name + suffix)
        try:
            if candidate.is_file():
                return candidate
        except OSError as error:
            raise DataError(f"{candidate} cannot be looked at: {error}", "allow reading it") from error
    return None
