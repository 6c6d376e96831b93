"""What a value may be: each shape checks a value, converts a plain tree, and describes itself in words."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from math import inf, nan
from typing import Any

from mooring.wording import class_words, join_or, number_text

LARGEST_FLOAT = sys.float_info.max


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written where a value comes from."""

    null_is_nan: bool = False  # JSON has no word for a number that is not finite
    largest: int | None = None  # whole numbers beyond it are rejected


AS_CONFIGURED = NumberFormat()
AS_RECORDED = NumberFormat(null_is_nan=True, largest=2**53)  # not every reader of JSON tells 2^53 + 1 from 2^53


class Shape:
    """What a value may be. `words` follow "must be" in messages and fill the range column of the documentation."""

    @property
    def words(self) -> str:
        raise NotImplementedError

    @property
    def inner(self) -> "tuple[Shape, ...]":
        return ()

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The classes of records and parts that it is made of; none if all of it is plain."""
        return tuple(cls for shape in self.inner for cls in shape.classes)

    def convert(self, tree: Any) -> Any:
        """The Python value for a plain tree: a tuple for a list, a float for a whole number. It may be unfit."""
        return tree

    def problem(self, value: Any) -> str | None:
        """What a Python value must be instead; None if it fits."""
        raise NotImplementedError


@dataclass(frozen=True)
class Anything(Shape):
    words = "a value"

    def problem(self, value: Any) -> None:
        return None


@dataclass(frozen=True)
class Null(Shape):
    words = "null"

    def problem(self, value: Any) -> str | None:
        return None if value is None else self.words


@dataclass(frozen=True)
class Flag(Shape):
    words = "true or false"

    def problem(self, value: Any) -> str | None:
        return None if isinstance(value, bool) else self.words


@dataclass(frozen=True)
class Text(Shape):
    is_path: bool = False

    @property
    def words(self) -> str:
        return "a path" if self.is_path else "text"

    def problem(self, value: Any) -> str | None:
        return None if isinstance(value, str) else "text"


@dataclass(frozen=True)
class Options(Shape):
    """One of a few values."""

    values: tuple[Any, ...]

    @property
    def words(self) -> str:
        return join_or([str(value) for value in self.values])

    def problem(self, value: Any) -> str | None:
        fits = any(value == one and type(value) is type(one) for one in self.values)
        return None if fits else self.words


@dataclass(frozen=True)
class NumberShape(Shape):
    """A number between two ends. `above` and `below` are outside, `low` and `high` still inside."""

    whole: bool
    low: float = -inf
    above: float = -inf
    high: float = inf
    below: float = inf
    format: NumberFormat = AS_CONFIGURED

    @property
    def words(self) -> str:
        """`above 0`, `0 to 1`, `0 or more, below 1`; whole numbers by the values still inside: `1 or more`."""
        low, above, high, below = self.low, self.above, self.high, self.below
        if self.whole:
            low, above, high, below = max(low, above + 1), -inf, min(high, below - 1), inf
        if low > -inf and high < inf:
            return f"{number_text(low)} to {number_text(high)}"
        ends = [
            *([f"{number_text(low)} or more"] if low > -inf else []),
            *([f"above {number_text(above)}"] if above > -inf else []),
            *([f"at most {number_text(high)}"] if high < inf else []),
            *([f"below {number_text(below)}"] if below < inf else []),
        ]
        return ", ".join(ends) or self._type_words

    @property
    def _type_words(self) -> str:
        return "a whole number" if self.whole else "a number"

    def convert(self, tree: Any) -> Any:
        if tree is None and not self.whole and self.format.null_is_nan:
            return nan
        if type(tree) is int and not self.whole:
            try:
                return float(tree)
            except OverflowError:
                return tree
        return tree

    def problem(self, value: Any) -> str | None:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole and (self.whole or not isinstance(value, float)):
            return self._type_words
        if is_whole and self.format.largest is not None and abs(value) > self.format.largest:
            return "a whole number up to 2^53"
        if not self.whole and not -LARGEST_FLOAT <= value <= LARGEST_FLOAT:
            return None if value != value and self.format.null_is_nan else "a finite number"  # noqa: PLR0124
        inside = self.low <= value <= self.high and self.above < value < self.below
        return None if inside else self.words


@dataclass(frozen=True)
class Items(Shape):
    """A tuple or list of any length."""

    member: Shape
    container: type[tuple[Any, ...]] | type[list[Any]] = tuple
    fewest: int = 0

    @property
    def words(self) -> str:
        return "a list of names" if isinstance(self.member, Text) else f"a list, each {self.member.words}"

    @property
    def inner(self) -> tuple[Shape, ...]:
        return (self.member,)

    def convert(self, tree: Any) -> Any:
        return self.container(map(self.member.convert, tree)) if isinstance(tree, list | tuple) else tree

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, self.container):
            return f"a {self.container.__name__}" if self.classes else self.words
        if len(value) < self.fewest:
            return f"a list of at least {self.fewest}"
        reason = next(filter(None, map(self.member.problem, value)), None)
        return None if reason is None else f"a list, each {reason}"


@dataclass(frozen=True)
class RowShape(Shape):
    """A tuple with one value for each member."""

    members: tuple[Shape, ...]

    @property
    def words(self) -> str:
        each = dict.fromkeys(member.words for member in self.members)
        return f"a list of {len(self.members)}, each {' and '.join(each)}"

    @property
    def inner(self) -> tuple[Shape, ...]:
        return self.members

    def convert(self, tree: Any) -> Any:
        if not isinstance(tree, list | tuple) or len(tree) != len(self.members):
            return tree
        return tuple(member.convert(part) for member, part in zip(self.members, tree, strict=True))

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, tuple) or len(value) != len(self.members):
            return self.words
        each = (member.problem(part) for member, part in zip(self.members, value, strict=True))
        return self.words if any(each) else None


@dataclass(frozen=True)
class MappingShape(Shape):
    """A mapping of keys to values."""

    key: Shape
    member: Shape
    words = "a mapping"

    @property
    def inner(self) -> tuple[Shape, ...]:
        return (self.member,)

    def convert(self, tree: Any) -> Any:
        if not isinstance(tree, Mapping):
            return tree
        return {self.convert_key(key): self.member.convert(part) for key, part in tree.items()}

    def convert_key(self, key: Any) -> Any:
        """YAML and JSON may write `1` or "1" for a key; the annotation decides which one it is."""
        if isinstance(self.key, Text):
            return str(key)
        try:
            return int(key) if isinstance(self.key, NumberShape) and isinstance(key, str) else key
        except ValueError:
            return key

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, Mapping):
            return self.words
        for key, part in value.items():
            if reason := self.key.problem(key):
                return f"a mapping whose keys are {reason}"
            if reason := self.member.problem(part):
                return f"a mapping, each value {reason}"
        return None


@dataclass(frozen=True)
class Instance(Shape):
    """A value of a class: a record, or a part of a family."""

    cls: Any

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        return (self.cls,)

    @property
    def words(self) -> str:
        """For a record its keys are listed; a family, which is abstract, is called by its name."""
        if is_dataclass(self.cls) and not getattr(self.cls, "__abstractmethods__", None):
            return "its keys"
        name = class_words(self.cls)
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"

    def problem(self, value: Any) -> str | None:
        """A dataclass checks what it holds itself. Whether a part fits its family is checked by its user."""
        cls: type = self.cls
        return f"a {cls.__name__}" if is_dataclass(cls) and not isinstance(value, cls) else None


@dataclass(frozen=True)
class Either(Shape):
    """One of several shapes, null last. Whole numbers are tried before numbers, so that 1 stays 1."""

    members: tuple[Shape, ...]

    @property
    def words(self) -> str:
        return ", or ".join(member.words for member in self.members)

    @property
    def inner(self) -> tuple[Shape, ...]:
        return self.members

    @property
    def nullable(self) -> bool:
        return Null() in self.members

    def convert(self, tree: Any) -> Any:
        if tree is None and self.nullable:
            return None
        values = ((member, member.convert(tree)) for member in self.members)
        return next((value for member, value in values if member.problem(value) is None), tree)

    def problem(self, value: Any) -> str | None:
        reasons = [member.problem(value) for member in self.members]
        return None if None in reasons else ", or ".join(dict.fromkeys(filter(None, reasons)))
