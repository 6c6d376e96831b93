"""Downloads one file: continued where it stopped, verified before it gets its name; and unpacks archives."""

import hashlib
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from io import BytesIO, FileIO
from pathlib import Path
from shutil import copyfileobj
from time import sleep
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from filelock import FileLock, Timeout

from mooring.data import Remote
from mooring.errors import DataError
from mooring.events import Downloaded, Emit

Pauses = tuple[float, ...]
PAUSES: Pauses = (1.0, 5.0)  # seconds before a broken connection is tried again
AGAIN = "repeat the command: it goes on where it was"
BLOCK = 1 << 18  # bytes
PATIENCE = 30.0  # seconds without a byte
PARTIAL, UNSATISFIABLE = 206, 416


@dataclass(frozen=True)
class Response:
    """A stream of bytes of which the first is number `start` of the file."""

    stream: IO[bytes]
    start: int
    total: int | None  # bytes of the whole file, if the server says so

    def blocks(self) -> Iterator[bytes]:
        """A connection that breaks raises `ConnectionError`."""
        try:
            while block := self.stream.read(BLOCK):
                yield block
        except (HTTPException, OSError) as error:
            raise ConnectionError(f"the connection broke ({error})") from error


def download(remote: Remote, path: Path, emit: Emit, pauses: Pauses = PAUSES) -> None:
    """Bring a file to `path`; until it is whole and verified it is `<path>.part`. Done at once if it is there."""
    if path.is_file() and md5_of(path) == remote.md5:
        return
    part = path.with_name(f"{path.name}.part")
    with appending(part) as file:
        if length(file):
            receive(remote, file, emit, pauses)
            if md5_of(part) != remote.md5:  # the beginning was of something else
                file.truncate(0)
        if not length(file):
            receive(remote, file, emit, pauses)
        found = md5_of(part)
        if found != remote.md5:
            file.truncate(0)
            raise DataError(
                f"{remote.url}: what arrived has the checksum {found}, not {remote.md5}",
                f"try again later; if it stays so, the file has changed there: put the official one at {path}",
            )
        os.fsync(file.fileno())
        part.replace(path)


def receive(remote: Remote, file: FileIO, emit: Emit, pauses: Pauses) -> None:
    """Download the missing bytes, with several connections if one breaks."""
    for pause in (*pauses, None):
        try:
            transfer(remote, file, emit)
            return
        except ConnectionError as error:
            if pause is None:
                raise DataError(f"{remote.url}: {error}, after {length(file):,} bytes", AGAIN) from error
            sleep(pause)


def transfer(remote: Remote, file: FileIO, emit: Emit) -> None:
    """One connection; a server that does not continue starts over."""
    with asked(remote.url, length(file)) as response:
        if response.start != length(file):
            file.truncate(0)
            if response.start:
                raise ConnectionError(f"the server answers from byte {response.start:,}, which was not asked for")
        if response.start:
            emit(Downloaded(remote.place, response.start, response.total, resumed=True))
        check_room(file, response)
        for block in response.blocks():
            append(file, block)
            emit(Downloaded(remote.place, length(file), response.total))
        if response.total is not None and length(file) < response.total:
            raise ConnectionError("the connection ended early")


def check_room(file: FileIO, response: Response) -> None:
    """Report a disk that is too small before an hour of download, not after."""
    needed = 0 if response.total is None else response.total - length(file)
    free = shutil.disk_usage(str(file.name)).free
    if needed > free:
        raise DataError(
            f"{file.name}: {needed:,} bytes are still to come and {free:,} are free",
            "free some space or choose another --root",
        )


def append(file: FileIO, block: bytes) -> None:
    rest = memoryview(block)
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except OSError as error:
        raise DataError(
            f"{file.name}: cannot be written ({error.strerror})", f"free some space, then {AGAIN}"
        ) from error


@contextmanager
def appending(part: Path) -> Iterator[FileIO]:
    """The unfinished file, for this process alone."""
    guard = part.with_name(f"{part.name}.lock")
    lock = FileLock(guard)
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
        file = FileIO(part, "a")
    except Timeout:
        raise DataError(f"{part}: is being fetched by another process", "wait for it") from None
    except OSError as error:
        lock.release()
        raise DataError(f"{part}: cannot be written ({error.strerror})", "choose another folder with --root") from error
    try:
        with file:
            yield file
    finally:
        lock.release()
        guard.unlink(missing_ok=True)
        if part.exists() and not part.stat().st_size:
            part.unlink()


def length(file: FileIO) -> int:
    return os.fstat(file.fileno()).st_size


def md5_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


@contextmanager
def asked(url: str, start: int) -> Iterator[Response]:
    """Ask for the file from byte `start` on; a server without ranges answers from the beginning."""
    headers = {"User-Agent": "mooring", "Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        answer = urlopen(Request(url, headers=headers), timeout=PATIENCE)
    except HTTPError as error:
        with error:
            if error.code != UNSATISFIABLE or not start:
                raise DataError(
                    f"{url}: the server answers {error.code} {error.reason}",
                    "try again later, or download it by hand: `mooring data` says where it belongs",
                ) from error
            yield Response(BytesIO(), start, None)  # there is nothing beyond: perhaps it is whole
            return
    except URLError as error:
        raise DataError(
            f"{url}: cannot be reached ({error.reason})", "check the network and the variable https_proxy"
        ) from error
    except (HTTPException, OSError) as error:
        raise ConnectionError(f"the connection broke ({error})") from error
    with answer:
        yield Response(answer, *frame(answer.status, answer.headers, start))


def frame(status: int, headers: HTTPMessage, start: int) -> tuple[int, int | None]:
    """Where in the file the answer begins, and how long the file is.

    If the server does not say where its answer begins, it is assumed to be the requested byte; the checksum decides.
    """
    if status == PARTIAL:
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", headers.get("Content-Range", "").strip())
        if found is None:
            return start, None
        return int(found[1]), None if found[2] == "*" else int(found[2])
    size = headers.get("Content-Length", "")
    return 0, int(size) if size.isdigit() else None


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
