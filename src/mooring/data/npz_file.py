"""Arrays in an .npz file, each looked at before it is unpacked: what it is, and how much of memory it takes.

An .npz file is a zip of .npy files. Its directory and its headers are claims: they are compared with each other, with
the limit and with what the file could hold, before room is made; then the data with them, checksum included.
"""

import io
import math
import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mooring.data.limits import regular, reject_excess
from mooring.errors import DataError

AnyArray = NDArray[Any]
CHUNK = 2**20  # bytes read at once, the zip's directory included: some 20,000 entries
HARMLESS, DENSEST = 2**24, 100  # a file that unpacks to more than 16 MiB may grow to 100 times its size, not more
END = 22 + 2**16  # bytes, at most, of the record that ends a zip
KINDS = frozenset("biufSU")  # numbers and texts; whatever has objects inside is a program
LENGTHS = {b"\x01\x00": Struct("<H"), b"\x02\x00": Struct("<I"), b"\x03\x00": Struct("<I")}  # of headers, by version
LONGEST_HEADER = 10_000  # bytes
DESCRIBED = re.compile(  # without its spaces
    rb"\{['\"]descr['\"]:['\"](?P<dtype>[<>|=]?[a-zA-Z]\d{0,9})['\"],"
    rb"['\"]fortran_order['\"]:(?P<fortran>True|False),['\"]shape['\"]:\((?P<shape>[\d,]{0,300})\),?\}"
)


@dataclass(frozen=True)
class ArrayMember:
    """One array as its file describes it."""

    name: str
    info: zipfile.ZipInfo
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int  # of the data, behind the header

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def holds(path: Path, name: str) -> bool:
    """Is there an array of this name? The same files are rejected as when they are read."""
    size = regular(path).st_size
    with _Narrow(path) as file, zipfile.ZipFile(file) as archive:
        _reject_contradictions(archive, file, size)
        return f"{name}.npy" in archive.namelist()


def read_npz(path: Path, names: Sequence[str], max_bytes: int) -> dict[str, AnyArray]:
    """The arrays of these names that are there, if all of them together stay within the limit."""
    size = regular(path).st_size
    with _Narrow(path) as file, zipfile.ZipFile(file) as archive:
        _reject_contradictions(archive, file, size)
        there = archive.namelist()
        members = [_member(archive, name) for name in names if f"{name}.npy" in there]
        total = sum(member.nbytes for member in members)
        reject_excess(f"{path}: {len(members)} arrays", total, max_bytes)
        if total > max(HARMLESS, DENSEST * size):
            raise DataError(
                f"{path} has {size} bytes and would unpack to {total}, more than {DENSEST} times as many",
                "if it is meant to, save it with np.savez, which does not compress",
            )
        return {member.name: _read_array(archive, member) for member in members}


def _reject_contradictions(archive: zipfile.ZipFile, file: io.FileIO, size: int) -> None:
    """The directory has no checksum: an array that it has lost would be missed by nobody."""
    for info in archive.infolist():
        archive.open(info).close()  # compares the name in the directory with that in front of the data
    file.seek(max(0, size - END))
    end = file.read(END)
    counted = end[end.rfind(b"PK\x05\x06") + 10 :][:2]
    if int.from_bytes(counted, "little") != len(archive.infolist()):
        raise ValueError(f"{len(archive.infolist())} files where its directory counts others")


class _Narrow(io.FileIO):
    """A file of which nothing large is read at once: a zip's directory may claim to be as large as the file."""

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = os.fstat(self.fileno()).st_size - self.tell() if size is None or size < 0 else size
        if wanted > CHUNK:
            raise ValueError(f"{wanted} bytes of zip directory; at most {CHUNK} are read")
        return super().read(wanted) or b""


def _member(archive: zipfile.ZipFile, name: str) -> ArrayMember:
    if archive.namelist().count(f"{name}.npy") > 1:
        raise ValueError(f"{name} is there twice")
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is zipped by method {info.compress_type}, which np.savez does not use")
    with archive.open(info) as file:
        described = DESCRIBED.fullmatch(b"".join(_header(file, name).split()))
        start = file.tell()
    if described is None:
        raise ValueError(f"{name} is not an array of plain numbers or text")
    dtype = np.dtype(described["dtype"].decode())
    shape = tuple(int(side) for side in described["shape"].split(b",") if side)
    if dtype.kind not in KINDS:
        raise ValueError(f"{name} is {dtype}, neither numbers nor text")
    member = ArrayMember(name, info, dtype, shape, described["fortran"] == b"True", start)
    if member.nbytes != info.file_size - start:
        raise ValueError(f"{name} says it is {dtype} {shape} but has {info.file_size - start} bytes")
    return member


def _header(file: IO[bytes], name: str) -> bytes:
    """The text that describes an array: b"\\x93NUMPY", the version, the length of the text, the text."""
    magic, version = file.read(6), file.read(2)
    if magic != b"\x93NUMPY" or version not in LENGTHS:
        raise ValueError(f"{name} is no .npy file")
    (length,) = LENGTHS[version].unpack(file.read(LENGTHS[version].size))
    if length > LONGEST_HEADER:
        raise ValueError(f"{name} has a header of {length} bytes; at most {LONGEST_HEADER} are read")
    return file.read(length)


def _read_array(archive: zipfile.ZipFile, member: ArrayMember) -> AnyArray:
    """The data into room of its size; behind its last byte the zip's checksum is compared."""
    values = np.empty(member.nbytes, np.uint8)
    with archive.open(member.info) as file:
        file.read(member.start)
        for place in range(0, member.nbytes, CHUNK):
            part = values[place : place + CHUNK]
            part[:] = np.frombuffer(file.read(len(part)), np.uint8)
        if file.read(1):
            raise ValueError(f"{member.name} goes on behind its end")
    return values.view(member.dtype).reshape(member.shape, order="F" if member.fortran else "C")
