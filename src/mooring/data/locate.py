"""Where data lies on disk: the one place that knows the data root and what to say when files are missing."""

import os
from collections.abc import Sequence
from pathlib import Path

from mooring.errors import DataError

VARIABLE = "MOORING_DATA"


def data_root(root: str | None) -> Path:
    """The given root, else $MOORING_DATA, else ~/.cache/mooring; always absolute, so that messages say where."""
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
    """The paths of `names` in the first of `folders` that holds them all; a set scattered over folders is no set.

    Folders are relative to the data root unless absolute. `get` says how to come by the files; each name may end in
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
