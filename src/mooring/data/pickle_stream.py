"""The opcodes of a pickle, one by one, each length checked against the file before anything is read.

A pickle is a program. Of its 68 opcodes only those that write data are known here; none of them runs anything.
"""

import codecs
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from struct import Struct
from typing import BinaryIO, Literal

import numpy as np

PlainConstant = int | bytes | str | tuple[str, str] | None
Making = Literal["push", "mark", "list", "dict", "tuple", "append", "set", "call", "fill"]
PickleAction = Literal[Making, "put", "get", "global", "skip", "stop"]
LARGEST = 2**29  # bytes of a file; the largest official one, CIFAR-100's training part, has 155 million
FEWEST, EVERY = 1000, 100  # a file may have 1,000 opcodes, and one more for every 100 bytes; an image alone has 3,072
LINE = 200  # letters of a number or a name in the old text protocol
U1, U2, U4, U8, I4 = (Struct(form) for form in ("<B", "<H", "<I", "<Q", "<i"))


class ForbiddenError(Exception):
    """A pickle asked for something that these files do not need."""


class Stream:
    """A pickle file that hands out no more than it has."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size

    def take(self, count: int) -> bytes:
        """Asked for more than the file holds, a reader would make room for it first."""
        if not 0 <= count <= 64 and not 0 <= count <= self._size - self._file.tell():
            raise ValueError(f"{count} bytes where {self._size - self._file.tell()} are left")
        taken = self._file.read(count)
        if len(taken) != count:
            raise ValueError("it ends too early")
        return taken

    def line(self, longest: int = LINE) -> bytes:
        line = self._file.readline(longest)
        if not line.endswith(b"\n"):
            raise ValueError("a line without an end")
        return line[:-1]

    def whole_line(self) -> bytes:
        return self.line(self._size)


Reader = Callable[[Stream], PlainConstant]


def opcodes(path: Path) -> Iterator[tuple[PickleAction, PlainConstant]]:
    """What a pickle does, and with which value; `ForbiddenError` or `ValueError` where it is no pickle of data."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST:
            raise ValueError(f"{size} bytes; no file of CIFAR has more than {LARGEST}")
        stream = Stream(file, size)
        for _ in range(FEWEST + size // EVERY):
            code = stream.take(1)
            if code not in OPCODES:
                raise ForbiddenError(opcode_name(code, stream))
            action, read = OPCODES[code]
            yield action, read(stream)
            if action == "stop":
                return
        raise ValueError(f"more than {FEWEST + size // EVERY} opcodes in {size} bytes")


def opcode_name(code: bytes, stream: Stream) -> str:
    """An opcode that writes no data, as people read it."""
    if code == b"i":  # names what it would call
        return ".".join(names(stream))
    return f"the pickle opcode {code!r}"


def number_reader(form: Struct) -> Callable[[Stream], int]:
    def read(stream: Stream) -> int:
        value: int = form.unpack(stream.take(form.size))[0]
        return value

    return read


def raw(form: Struct) -> Callable[[Stream], bytes]:
    """Bytes behind their length."""
    length = number_reader(form)
    return lambda stream: stream.take(length(stream))


def text_reader(form: Struct) -> Reader:
    """Text behind its length in UTF-8, one byte per letter in memory: wider letters would make it four times as large.

    How Python 3 writes bytes for older readers: as text of Latin-1.
    """
    content = raw(form)

    def read(stream: Stream) -> str:
        found = content(stream)
        if not found.isascii() and np.frombuffer(found, np.uint8).max() > 0xC3:  # the first byte of U+00FF
            raise ValueError("text beyond Latin-1")
        return found.decode("utf-8")

    return read


def escaped_text(stream: Stream) -> str:
    line = stream.whole_line()
    if line.count(b"\\") != line.count(b"\\u00"):
        raise ValueError("text beyond Latin-1")
    return line.decode("raw_unicode_escape")


def quoted(stream: Stream) -> bytes:
    line = stream.whole_line()
    if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in (b"'", b'"'):
        raise ValueError("a text without quotes")
    return codecs.escape_decode(line[1:-1])[0]


def decimal(stream: Stream) -> int:
    line = stream.line()
    return line == b"01" if line in (b"00", b"01") else int(line.removesuffix(b"L"))


def long(stream: Stream) -> int:
    return int.from_bytes(stream.take(stream.take(1)[0]), "little", signed=True)


def names(stream: Stream) -> tuple[str, str]:
    return stream.line().decode(), stream.line().decode()


def constant(value: PlainConstant) -> Reader:
    return lambda _: value


NOTHING = constant(None)
OPCODES: dict[bytes, tuple[PickleAction, Reader]] = {
    b"N": ("push", NOTHING),
    b"\x88": ("push", constant(True)),
    b"\x89": ("push", constant(False)),
    b"I": ("push", decimal),
    b"L": ("push", decimal),
    b"J": ("push", number_reader(I4)),
    b"K": ("push", number_reader(U1)),
    b"M": ("push", number_reader(U2)),
    b"\x8a": ("push", long),
    b"S": ("push", quoted),
    b"T": ("push", raw(I4)),
    b"U": ("push", raw(U1)),
    b"B": ("push", raw(U4)),
    b"C": ("push", raw(U1)),
    b"\x8e": ("push", raw(U8)),
    b"V": ("push", escaped_text),
    b"X": ("push", text_reader(U4)),
    b"\x8c": ("push", text_reader(U1)),
    b"\x8d": ("push", text_reader(U8)),
    b"(": ("mark", NOTHING),
    b"]": ("list", constant(0)),
    b"l": ("list", NOTHING),
    b"}": ("dict", constant(0)),
    b"d": ("dict", NOTHING),
    b")": ("tuple", constant(0)),
    b"\x85": ("tuple", constant(1)),
    b"\x86": ("tuple", constant(2)),
    b"\x87": ("tuple", constant(3)),
    b"t": ("tuple", NOTHING),
    b"a": ("append", constant(1)),
    b"e": ("append", NOTHING),
    b"s": ("set", constant(2)),
    b"u": ("set", NOTHING),
    b"p": ("put", decimal),
    b"q": ("put", number_reader(U1)),
    b"r": ("put", number_reader(U4)),
    b"\x94": ("put", NOTHING),
    b"g": ("get", decimal),
    b"h": ("get", number_reader(U1)),
    b"j": ("get", number_reader(U4)),
    b"c": ("global", names),
    b"\x93": ("global", NOTHING),
    b"R": ("call", NOTHING),
    b"b": ("fill", NOTHING),
    b".": ("stop", NOTHING),
    b"\x80": ("skip", number_reader(U1)),  # the protocol
    b"\x95": ("skip", number_reader(U8)),  # a frame
}
