"""Arrays of numbers in a MATLAB 5 file, zipped or not, read without anything that a file could lead astray.

A general reader follows whatever a file nests, cells in cells in cells, until the interpreter dies, and makes room for
whatever size it claims. SVHN consists of two arrays of numbers: only such are known here, and sizes are checked first.

The MathWorks, "MAT-File Format", chapter "Level 5 MAT-Files of Version 5 and up".
"""

import math
import os
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.generic]
LARGEST = 2**30  # bytes of an array; SVHN's larger part has 225 million
DENSEST = 1032  # bytes that one byte of a deflated stream can stand for, at most
MOST = 64  # variables, and bytes of a name or of a shape: MATLAB's names have 63 letters
HEADER, TAG = 128, 8  # bytes
MATRIX, ZIPPED, COMPLEX = 14, 15, 0x0800
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
ORDERS = {b"IM": "<", b"MI": ">"}
CHUNK = 2**16


def read_mat(path: Path, names: Collection[str]) -> dict[str, Numbers]:
    """The wanted arrays of a file; `ValueError` and its like say what is wrong with it."""
    return {variable.name: variable.read() for variable in _variables(path) if variable.name in names}


def shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shape of every variable, as its header has it; no data is read."""
    return {variable.name: variable.shape for variable in _variables(path)}


class Content(Protocol):
    """The bytes of one element, in order."""

    def take(self, count: int) -> bytes | bytearray:
        """Exactly so many; an impossible size is rejected before memory is allocated."""

    def end(self) -> None:
        """Nothing but padding may be left."""


class _Plain:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size

    def take(self, count: int) -> bytes:
        if count > self._left:
            raise ValueError(f"{count} bytes where {self._left} are left")
        self._left -= count
        return self._file.read(count)

    def end(self) -> None:
        if self._left >= TAG:
            raise ValueError(f"{self._left} bytes more than its arrays need")


class _Zipped:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left, self._most = file, size, size * DENSEST
        self._stream = zlib.decompressobj()

    def take(self, count: int) -> bytearray:
        if count > self._most:
            raise ValueError(f"{count} bytes out of {self._left} zipped ones")
        taken = bytearray()
        while len(taken) < count:
            more = self._more(count - len(taken))
            if not more and (self._stream.eof or not self._left):
                raise ValueError("it ends too early")
            taken += more
        return taken

    def end(self) -> None:
        rest = 0
        while not self._stream.eof:  # where its checksum stands
            more = self._more(TAG)
            rest += len(more)
            if rest >= TAG or (not more and not self._left and not self._stream.eof):
                raise ValueError("a zipped array without an end")

    def _more(self, most: int) -> bytes:
        waiting = self._stream.unconsumed_tail
        if not waiting:
            waiting = self._file.read(min(self._left, CHUNK))
            self._left -= len(waiting)
        return self._stream.decompress(waiting, most)


@dataclass(frozen=True)
class _Variable:
    """An array whose data has not been read yet."""

    name: str
    shape: tuple[int, ...]
    flags: int
    order: str
    content: Content

    def read(self) -> Numbers:
        kind = CLASSES.get(self.flags & 0xFF)
        if kind is None or self.flags & COMPLEX:
            raise ValueError(f"{self.name} is no array of plain numbers")
        stored, size, inside = _tag(self.content, self.order)
        if stored not in STORED:
            raise ValueError(f"{self.name} is stored as type {stored}, which is no number")
        count = math.prod(self.shape)
        if size != count * np.dtype(STORED[stored]).itemsize:
            raise ValueError(f"{self.name} has shape {self.shape} and {size} bytes of {STORED[stored]}")
        if count * np.dtype(kind).itemsize > LARGEST or size > LARGEST:
            raise ValueError(f"{self.name} of shape {self.shape} needs more than {LARGEST} bytes")
        raw = inside[:size] if inside else self.content.take(size)
        values = np.frombuffer(raw, self.order + STORED[stored]).astype(kind, copy=False)
        self.content.end()
        return values.reshape(self.shape, order="F")


def _variables(path: Path) -> Iterator[_Variable]:
    """One by one; each must be read, if at all, before the next."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        order = ORDERS.get(file.read(HEADER)[-2:])
        if order is None or size < HEADER:
            raise ValueError("no MATLAB 5 file")
        found: set[str] = set()
        place = HEADER
        while place < size:
            file.seek(place)
            variable, length = _variable(file, size - place, order)
            if variable.name in found or len(found) == MOST:
                raise ValueError(f"{variable.name!r} twice, or more than {MOST} variables")
            found.add(variable.name)
            yield variable
            place += TAG + length


def _variable(file: BinaryIO, left: int, order: str) -> tuple[_Variable, int]:
    """A variable up to its data, and the length of its element."""
    kind, length, _ = _tag(_Plain(file, left), order)
    if length > left - TAG:
        raise ValueError(f"an element of {length} bytes where {left - TAG} are left")
    content: Content = _Plain(file, length)
    if kind == ZIPPED:
        content = _Zipped(file, length)
        kind, _, _ = _tag(content, order)
    if kind != MATRIX:
        raise ValueError(f"an element of type {kind}, which is no array")
    flags, sides, name = (_small(content, order) for _ in range(3))
    if len(flags) != 8 or len(sides) % 4 or not sides:
        raise ValueError("an array without flags or shape")
    shape = tuple(np.frombuffer(sides, f"{order}i4").tolist())
    if min(shape) < 0:
        raise ValueError(f"shape {shape}")
    return _Variable(name.decode("ascii"), shape, int(np.frombuffer(flags, f"{order}u4")[0]), order, content), length


def _tag(content: Content, order: str) -> tuple[int, int, bytes]:
    """Type and size of an element; up to four bytes may stand inside its tag."""
    raw = bytes(content.take(TAG))
    kind, size = Struct(f"{order}II").unpack(raw)
    if kind >> 16:
        if kind >> 16 > 4:
            raise ValueError(f"{kind >> 16} bytes in a tag for 4")
        return kind & 0xFFFF, kind >> 16, raw[4:]
    return kind, size, b""


def _small(content: Content, order: str) -> bytes:
    """A short element and its padding."""
    _, size, inside = _tag(content, order)
    if inside:
        return inside[:size]
    if size > MOST:
        raise ValueError(f"{size} bytes where at most {MOST} belong")
    return bytes(content.take(size + -size % TAG))[:size]
