"""Reading the pickles of CIFAR without giving them any power: a pickle is a program, and data has no business to run.

Nothing that a pickle names is ever looked up. It may build what the official files consist of and nothing else: one
dictionary of numbers, texts, lists of these, and arrays of whole numbers. So nothing nests, whatever a file says, and
what is built is never larger than twice the file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mooring.data.pickle_stream import LINE, ForbiddenError, PlainConstant, opcodes
from mooring.errors import DataError

Pickled = dict[bytes | str, object]
PickledTypes = frozenset[type]
INTEGERS = frozenset(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8))
LONGEST = 16  # values of a tuple; numpy's longest has 9


def read_pickle(path: Path, remedy: str) -> dict[str, object]:
    """The dictionary in a pickle of plain values, lists and integer arrays; its keys may be bytes or text."""
    try:
        loaded = _Machine(path.stat().st_size).run(path)
        return {_text(key): value.array if type(value) is _Array else value for key, value in loaded.items()}
    except ForbiddenError as error:
        raise DataError(f"{path} asks for {error}, which no data file needs; it was not run", remedy) from error
    except Exception as error:  # rubbish can look like almost anything
        raise DataError(
            f"{path} is not a whole pickle of data ({type(error).__name__}: {error})"[:500], remedy
        ) from error


def count_rows(path: Path, width: int, remedy: str) -> int:
    """N of the array (N, width) in a pickle, read from its opcodes: nothing is built, and the pixels are not read.

    A pickled array has its shape ahead of its bytes.
    """
    rows: int | None = None
    try:
        for action, value in opcodes(path):
            side = value if action == "push" and type(value) is int else None
            if side == width and rows is not None and 0 <= rows * width <= path.stat().st_size:
                return rows
            rows = side
    except Exception as error:  # rubbish can look like almost anything
        raise DataError(f"{path} is not a pickle ({type(error).__name__}: {error})"[:500], remedy) from error
    raise DataError(f"{path} holds no array of (N, {width})", remedy)


@dataclass(frozen=True)
class _Global:
    """A name in a pickle; it stands for itself, and nothing is behind it."""

    name: str


class _Dtype:
    """`numpy.dtype`, for whole numbers only; an array of objects could hold anything."""

    def __init__(self, code: object, *_: object) -> None:
        self.code = _text(code)
        self.order = "<"
        if self.code not in INTEGERS:
            raise ForbiddenError(f"an array of dtype {self.code[:40]!r}")

    def fill(self, state: tuple[object, ...]) -> None:
        if state[1] in (">", b">"):
            self.order = ">"

    def resolve(self) -> np.dtype[np.generic]:
        return np.dtype(self.order + self.code)


class _Array:
    """`numpy.ndarray`, filled from bytes alone."""

    def __init__(self, *_: object) -> None:
        self.array: NDArray[np.generic] = np.empty(0, np.uint8)

    def fill(self, state: tuple[object, ...]) -> None:
        _, shape, dtype, fortran, raw = state
        if type(dtype) is not _Dtype or type(raw) is not bytes or type(shape) is not tuple:
            raise ForbiddenError("an array that is not made of bytes")
        sides = [side for side in shape if type(side) is int and side >= 0]
        if len(sides) != len(shape):
            raise ValueError("an array's shape must be whole numbers")
        self.array = np.frombuffer(raw, dtype.resolve()).reshape(sides, order="F" if fortran else "C")


def _encode(text: object, encoding: object) -> bytes:
    """`_codecs.encode` as protocol 2 uses it to write bytes; any other codec would be a program of its own."""
    if type(text) is not str or encoding not in ("latin1", b"latin1"):
        raise ForbiddenError(f"_codecs.encode with {_text(encoding)[:40]!r}")
    return text.encode("latin1")


def _no_call(*_: object) -> object:
    raise ForbiddenError("a call of numpy.ndarray")


CALLS: dict[str, Callable[..., object]] = {  # what stands for the few names that these files call
    "numpy.core.multiarray._reconstruct": _Array,
    "numpy._core.multiarray._reconstruct": _Array,
    "numpy.ndarray": _no_call,
    "numpy.dtype": _Dtype,
    "_codecs.encode": _encode,
    "__builtin__.bytes": lambda: b"",  # how protocol 2 writes empty bytes
}
TEXTS: PickledTypes = frozenset({bytes, str})
PLAIN: PickledTypes = frozenset({int, bool, bytes, str, type(None)})
IN_DICTIONARY: PickledTypes = PLAIN | {list, _Array}
IN_TUPLE: PickledTypes = PLAIN | {tuple, _Dtype, _Global}


class _Machine:
    """The stack and the memo of a pickle of data."""

    def __init__(self, size: int) -> None:
        self.stack: list[object] = []
        self.marks: list[int] = []
        self.memo: dict[object, object] = {}
        self.left = size  # bytes that calls may make: the letters of what is encoded are in the file, once

    def run(self, path: Path) -> Pickled:
        for action, value in opcodes(path):
            if action == "stop":
                break
            ACTIONS[action](self, value)
        loaded = self.stack.pop()
        if type(loaded) is not dict:
            raise TypeError(f"a {type(loaded).__name__}, not a dictionary")
        return loaded

    def taken(self, count: PlainConstant) -> list[object]:
        """The last `count` values, or all since the last mark."""
        first = len(self.stack) - count if type(count) is int else self.marks.pop()
        if not 0 <= first <= len(self.stack):
            raise ValueError("fewer values than it takes")
        values = self.stack[first:]
        del self.stack[first:]
        return values

    def push(self, value: object) -> None:
        self.stack.append(value)

    def mark(self, _: PlainConstant) -> None:
        self.marks.append(len(self.stack))

    def make_list(self, count: PlainConstant) -> None:
        self.push(_only(PLAIN, self.taken(count), "a list"))

    def make_dict(self, count: PlainConstant) -> None:
        values = self.taken(count)
        self.push({})
        self._set(values)

    def make_tuple(self, count: PlainConstant) -> None:
        values = _only(IN_TUPLE, self.taken(count), "a tuple")
        if len(values) > LONGEST:
            raise ForbiddenError(f"a tuple of {len(values)} values")
        for inner in values:
            if type(inner) is tuple:
                _only(PLAIN, inner, "a tuple in a tuple")
        self.push(tuple(values))

    def append(self, count: PlainConstant) -> None:
        values = _only(PLAIN, self.taken(count), "a list")
        there = self.stack[-1]
        if type(there) is not list:
            raise TypeError(f"items for a {type(there).__name__}")
        there += values

    def set_items(self, count: PlainConstant) -> None:
        self._set(self.taken(count))

    def _set(self, values: list[object]) -> None:
        there = self.stack[-1]
        if type(there) is not dict:
            raise TypeError(f"keys for a {type(there).__name__}")
        keys = _only(TEXTS, values[0::2], "the keys of a dictionary")
        there.update(zip(keys, _only(IN_DICTIONARY, values[1::2], "a dictionary"), strict=True))

    def put(self, place: PlainConstant) -> None:
        self.memo[len(self.memo) if place is None else place] = self.stack[-1]

    def get(self, place: PlainConstant) -> None:
        self.push(self.memo[place])

    def find(self, names: PlainConstant) -> None:
        module, name = names if type(names) is tuple else self.taken(2)
        full = f"{_text(module)[:LINE]}.{_text(name)[:LINE]}"
        if full not in CALLS:
            raise ForbiddenError(full)
        self.push(_Global(full))

    def call(self, _: PlainConstant) -> None:
        function, arguments = self.taken(2)
        if type(function) is not _Global or type(arguments) is not tuple:
            raise ForbiddenError(f"a call of a {type(function).__name__}")
        made = CALLS[function.name](*arguments)
        self.left -= len(made) if type(made) is bytes else 0
        if self.left < 0:
            raise ForbiddenError("one text many times over")
        self.push(made)

    def fill(self, _: PlainConstant) -> None:
        (state,) = self.taken(1)
        there = self.stack[-1]
        if type(there) is not _Array and type(there) is not _Dtype:
            raise ForbiddenError("a change of a function")
        if type(state) is not tuple:
            raise TypeError(f"a {type(state).__name__} where a tuple belongs")
        there.fill(state)

    def skip(self, _: PlainConstant) -> None:
        """The protocol's number, or a frame."""


ACTIONS: dict[str, Callable[[_Machine, PlainConstant], None]] = {
    "push": _Machine.push,
    "mark": _Machine.mark,
    "list": _Machine.make_list,
    "dict": _Machine.make_dict,
    "tuple": _Machine.make_tuple,
    "append": _Machine.append,
    "set": _Machine.set_items,
    "put": _Machine.put,
    "get": _Machine.get,
    "global": _Machine.find,
    "call": _Machine.call,
    "fill": _Machine.fill,
    "skip": _Machine.skip,
}


def _only(kinds: PickledTypes, values: Sequence[object], where: str) -> list[object]:
    """The values, if each is of one of these kinds: so no file can nest deeper than its format does."""
    stranger = next((type(value).__name__ for value in values if type(value) not in kinds), None)
    if stranger is not None:
        raise ForbiddenError(f"a {stranger.strip('_').lower()} in {where}")
    return list(values)


def _text(value: object) -> str:
    if type(value) is bytes:
        return value.decode("latin1")
    if type(value) is str:
        return value
    raise TypeError(f"a {type(value).__name__} where text belongs")
