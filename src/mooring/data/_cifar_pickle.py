"""Reads the pickles of CIFAR with Python's own unpickler, restricted to what these files need.

A pickle is a program. Three rules make it harmless:

- The opcodes are scanned before anything is built (`pickletools`). Only opcodes that write data are allowed, every
  declared length must fit into the file, and tuples cannot nest deeply.
- `find_class` knows the few numpy constructors that the official files name, and returns stand-ins for them. Nothing
  else is ever looked up or imported.
- The stand-ins accept arrays of integers made from bytes of the file, and nothing else.
"""

import pickle
import pickletools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooring.data._limits import regular
from mooring.errors import DataError

LARGEST = 2**29  # bytes of a file; the largest official one, the training part of CIFAR-100, has 155 million
FEWEST, EVERY = 1000, 100  # a file may have 1,000 opcodes, and one more per 100 bytes; one image has 3,072 bytes
LOOSE = 100  # tuples that are not consumed at once; an array has two, and its shape is one of them
INTEGERS = frozenset(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8))
TUPLES = frozenset({"EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"})
PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"})
CONSUMERS = frozenset({"REDUCE", "BUILD"})
PLAIN = """
    PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE INT LONG BININT BININT1 BININT2 LONG1 STRING BINSTRING SHORT_BINSTRING
    BINBYTES SHORT_BINBYTES BINBYTES8 UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8 EMPTY_LIST LIST APPEND APPENDS
    EMPTY_DICT DICT SETITEM SETITEMS GET BINGET LONG_BINGET GLOBAL STACK_GLOBAL
"""
ALLOWED = TUPLES | PUTS | CONSUMERS | set(PLAIN.split())


class ForbiddenError(Exception):
    """A pickle asks for something that the official files do not contain."""


def read_pickle(path: Path, remedy: str) -> dict[str, object]:
    """The dictionary in a pickle; its keys may be bytes or text, and its arrays hold integers."""
    try:
        with _mapped(path) as file:
            _scan(file)
            file.seek(0)
            loaded = _Unpickler(file).load()
        if type(loaded) is not dict:
            raise TypeError(f"a {type(loaded).__name__}, not a dictionary")
        return {_text(key): value.array if type(value) is _Array else value for key, value in loaded.items()}
    except ForbiddenError as error:
        raise DataError(f"{path} asks for {error}, which no data file needs; nothing was executed", remedy) from error
    except Exception as error:  # damaged pickles raise almost anything
        raise _damaged(path, error, remedy) from error


def count_rows(path: Path, width: int, remedy: str) -> int:
    """N of the array (N, width) in a pickle; its shape comes before its bytes, so the pixels are not read."""
    rows: int | None = None
    try:
        with _mapped(path) as file:
            for _, value, _ in pickletools.genops(file):  # type: ignore[arg-type]  # it has read, readline and tell
                side = value if type(value) is int else None
                if side == width and rows is not None and 0 <= rows * width <= len(file):
                    return rows
                rows = side
    except Exception as error:  # damaged pickles raise almost anything
        raise _damaged(path, error, remedy) from error
    raise DataError(f"{path} holds no array of (N, {width})", remedy)


def _damaged(path: Path, error: Exception, remedy: str) -> DataError:
    return DataError(f"{path} is not a complete pickle of data ({type(error).__name__}: {error})"[:500], remedy)


@contextmanager
def _mapped(path: Path) -> Iterator[mmap]:
    """The file in memory. Reading more than it has returns what it has and allocates nothing for the rest."""
    size = regular(path).st_size
    if size > LARGEST:
        raise ValueError(f"{size} bytes; no file of CIFAR has more than {LARGEST}")
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
        yield mapped


def _scan(file: mmap) -> None:
    """Reject what Python's unpickler would follow until memory or the interpreter ends.

    `genops` compares every declared length with the file. The unpickler allocates its memo up to the largest index,
    and hashing a tuple recurses into the tuples inside it. A tuple that a call consumes at once cannot be part of
    another one, because the stand-ins reject such arguments; so only the others are counted.
    """
    most, loose, before = FEWEST + len(file) // EVERY, 0, ""
    for count, (opcode, value, _) in enumerate(pickletools.genops(file)):  # type: ignore[arg-type]
        if opcode.name not in ALLOWED:
            raise ForbiddenError(f"the pickle opcode {opcode.name}" + (f" {value}"[:80] if value else ""))
        if count >= most:
            raise ValueError(f"more than {most} opcodes in {len(file)} bytes")
        if opcode.name in PUTS:
            if value is not None and value > most:
                raise ValueError(f"memo index {value}; at most {most}")
            continue
        loose += (opcode.name in TUPLES) - (opcode.name in CONSUMERS and before in TUPLES)
        if loose > LOOSE:
            raise ForbiddenError(f"more than {LOOSE} tuples")
        before = opcode.name


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: mmap) -> None:
        super().__init__(file, encoding="bytes")  # texts of Python 2 are bytes
        encode = _Encode(len(file))
        self._stand_ins: dict[str, object] = {
            "numpy.core.multiarray._reconstruct": _Array,
            "numpy._core.multiarray._reconstruct": _Array,
            "numpy.ndarray": _NDARRAY,
            "numpy.dtype": _Dtype,
            "_codecs.encode": encode,  # how protocol 2 writes bytes
            "__builtin__.bytes": encode,  # and empty bytes
        }

    def find_class(self, module: str, name: str) -> Any:
        full = f"{module}.{name}"[:200]
        if full not in self._stand_ins:
            raise ForbiddenError(full)
        return self._stand_ins[full]


_NDARRAY = object()  # stands in for `numpy.ndarray`, which files name and never call


class _Dtype:
    """Stands in for `numpy.dtype`: integers only; an array of objects could hold anything."""

    def __init__(self, code: object, *flags: object) -> None:
        _reject_tuples(flags)
        self.code, self.order = _text(code), "<"
        if self.code not in INTEGERS:
            raise ForbiddenError(f"an array of dtype {self.code[:40]!r}")

    def __setstate__(self, state: Any) -> None:
        _, order, *_ = state  # another length is a damaged pickle
        _reject_tuples(state)
        if order in (">", b">"):
            self.order = ">"

    def resolve(self) -> np.dtype[np.generic]:
        return np.dtype(self.order + self.code)


class _Array:
    """Stands in for an array that `numpy.core.multiarray._reconstruct` makes: filled from bytes alone."""

    def __init__(self, kind: object, shape: object, code: object) -> None:
        if kind is not _NDARRAY or shape != (0,) or type(code) not in (bytes, str):
            raise ForbiddenError("an array that is not made of bytes")
        self.array: NDArray[np.generic] = np.empty(0, np.uint8)

    def __setstate__(self, state: Any) -> None:
        version, shape, dtype, fortran, raw = state  # another length is a damaged pickle
        if type(dtype) is not _Dtype or type(raw) is not bytes or type(shape) is not tuple:
            raise ForbiddenError("an array that is not made of bytes")
        _reject_tuples((version, fortran))
        if not all(type(side) is int and side >= 0 for side in shape):
            raise ValueError("the shape of an array must be integers")
        self.array = np.frombuffer(raw, dtype.resolve()).reshape(shape, order="F" if fortran else "C")


class _Encode:
    """Stands in for `_codecs.encode` with the codec Latin-1; other codecs run code of their own.

    One text of the file could be encoded many times, so the bytes of all calls are limited to the size of the file.
    """

    __slots__ = ("_left",)

    def __init__(self, size: int) -> None:
        self._left = size

    def __call__(self, text: object = "", encoding: object = "latin1") -> bytes:
        if type(text) is not str or encoding not in ("latin1", b"latin1"):
            shown = encoding if type(encoding) in (str, bytes) else type(encoding).__name__
            raise ForbiddenError(f"_codecs.encode with {shown!r}"[:80])
        self._left -= len(text)
        if self._left < 0:
            raise ForbiddenError("one text encoded many times")
        return text.encode("latin1")

    def __setstate__(self, state: object) -> None:
        raise ForbiddenError("a change of a function")


def _reject_tuples(values: Iterable[object]) -> None:
    if any(type(value) is tuple for value in values):
        raise ForbiddenError("a tuple in a tuple")


def _text(value: object) -> str:
    if type(value) is bytes:
        return value.decode("latin1")
    if type(value) is str:
        return value
    raise TypeError(f"a {type(value).__name__} instead of text")
