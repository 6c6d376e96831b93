"""Unpacks the wanted files of a downloaded archive."""

import tarfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from mooring.errors import DataError


def unpack(archive: Path, folder: Path, members: Sequence[str]) -> None:
    """Write `<folder name>/<member>` of the archive to the folder, each whole or not at all; nothing is unpickled.

    Members are asked for by name, so nothing else in the archive can reach the disk.
    """
    missing = {f"{folder.name}/{member}": folder / member for member in members}
    try:
        with tarfile.open(archive, "r|*") as opened:  # from front to back, once
            for entry in opened:
                content = opened.extractfile(entry) if entry.isreg() and entry.name in missing else None
                if content is not None:
                    write(content, missing.pop(entry.name))
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise DataError(f"{archive}: cannot be unpacked ({error})", "remove it and fetch it again") from error
    if missing:
        raise DataError(f"{archive}: holds no {', '.join(missing)}", "remove it and fetch it again")


def write(content: IO[bytes], path: Path) -> None:
    draft = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            copyfileobj(content, file)
        draft.replace(path)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror or error})", "free some space or choose another --root"
        ) from error
    finally:
        with suppress(OSError):
            draft.unlink()
