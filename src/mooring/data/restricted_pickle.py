"""Reading the pickles of CIFAR without giving them any power: a pickle is a program, and data has no business to run.

No callable that a pickle names is ever the real one. Each admitted name stands for a small substitute of our own, so
that neither calling it (REDUCE) nor giving it a state (BUILD) reaches numpy, a codec or anything that could be changed.
"""

import io
import pickle
import pickletools
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mooring.errors import DataError

WHOLE_NUMBERS = frozenset({"BININT", "BININT1", "BININT2", "INT"})  # opcodes
INTEGERS = frozenset(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8))


def read_pickle(path: Path, remedy: str) -> dict[str, object]:
    """The dictionary in a pickle of plain containers and integer arrays; its keys may be bytes or text."""
    try:
        content = path.read_bytes()
        _refuse_wild_memo(content)
        loaded = _Unpickler(io.BytesIO(content), encoding="bytes").load()
        if type(loaded) is not dict:
            raise TypeError(f"a {type(loaded).__name__}, not a dictionary")
        return {_text(key): value.array if type(value) is _Array else value for key, value in loaded.items()}
    except _ForbiddenError as error:
        raise DataError(f"{path} asks for {error}, which no data file needs; it was not run", remedy) from error
    except Exception as error:  # rubbish makes an unpickler raise almost anything
        raise DataError(
            f"{path} is not a whole pickle of data ({type(error).__name__}: {error})"[:500], remedy
        ) from error


def count_rows(path: Path, width: int, remedy: str) -> int:
    """N of the array (N, width) in a pickle, told from its opcodes: nothing is built, and the pixels are not read.

    A pickled array has its shape ahead of its bytes.
    """
    rows: int | None = None
    try:
        with path.open("rb") as file:
            for opcode, argument, _ in pickletools.genops(file):
                number = int(argument or 0) if opcode.name in WHOLE_NUMBERS else None
                if number == width and rows is not None:
                    return rows
                rows = number
    except Exception as error:  # rubbish makes the parser raise almost anything
        raise DataError(f"{path} is not a pickle ({type(error).__name__}: {error})"[:500], remedy) from error
    raise DataError(f"{path} holds no array of (N, {width})", remedy)


class _ForbiddenError(Exception):
    """A pickle asked for something that these files do not need."""


class _Substitute:
    """What an admitted name stands for: it can be called, and a pickle cannot alter it."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[..., object]) -> None:
        self._call = call

    def __call__(self, *args: object) -> object:
        return self._call(*args)

    def __setstate__(self, state: object) -> None:
        raise _ForbiddenError("a change of a function")


class _Dtype:
    """`numpy.dtype`, for whole numbers only; an array of objects could hold anything."""

    __slots__ = ("code", "order")

    def __init__(self, code: object, *_: object) -> None:
        self.code = _text(code)
        self.order = "<"
        if self.code not in INTEGERS:
            raise _ForbiddenError(f"an array of dtype {self.code!r}")

    def __setstate__(self, state: tuple[object, ...]) -> None:
        self.order = ">" if _text(state[1]) == ">" else "<"

    def resolve(self) -> np.dtype[np.generic]:
        return np.dtype(self.order + self.code)


class _Array:
    """`numpy.ndarray`, filled from bytes alone."""

    __slots__ = ("array",)

    def __init__(self, *_: object) -> None:
        self.array: NDArray[np.generic] = np.empty(0, np.uint8)

    def __setstate__(self, state: tuple[object, ...]) -> None:
        _, shape, dtype, fortran, raw = state
        if type(dtype) is not _Dtype or type(raw) is not bytes or type(shape) is not tuple:
            raise _ForbiddenError("an array that is not made of bytes")
        sides = [side for side in shape if type(side) is int and side >= 0]
        if len(sides) != len(shape):
            raise ValueError("an array's shape must be whole numbers")
        self.array = np.frombuffer(raw, dtype.resolve()).reshape(sides, order="F" if fortran else "C")


def _encode(text: object, encoding: object) -> bytes:
    """`_codecs.encode` as protocol 2 uses it to write bytes; any other codec would be a program of its own."""
    if type(text) is not str or _text(encoding) != "latin1":
        raise _ForbiddenError(f"_codecs.encode with {_text(encoding)[:40]!r}")
    return text.encode("latin1")


def _no_call(*_: object) -> object:
    raise _ForbiddenError("a call of numpy.ndarray")


ADMITTED = {
    "numpy.core.multiarray._reconstruct": _Substitute(_Array),
    "numpy._core.multiarray._reconstruct": _Substitute(_Array),
    "numpy.ndarray": _Substitute(_no_call),
    "numpy.dtype": _Substitute(_Dtype),
    "_codecs.encode": _Substitute(_encode),
    "__builtin__.bytes": _Substitute(lambda: b""),  # how protocol 2 writes empty bytes
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if f"{module}.{name}" not in ADMITTED:
            raise _ForbiddenError(f"{module}.{name}")
        return ADMITTED[f"{module}.{name}"]


def _refuse_wild_memo(content: bytes) -> None:
    """One flipped bit in a memo index would make the unpickler allocate gigabytes."""
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > len(content):
            raise ValueError(f"memo index {argument}")


def _text(value: object) -> str:
    if type(value) is bytes:
        return value.decode("latin1")
    if type(value) is str:
        return value
    raise TypeError(f"a {type(value).__name__} where text belongs")
