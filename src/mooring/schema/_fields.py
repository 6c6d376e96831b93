"""Fields of frozen dataclasses: their annotations, bounds, sentences and defaults, checked in every constructor.

`shape_of` is the only place that looks into annotations. It knows plain types, `Literal`, unions, tuples, lists and
mappings, `Annotated` with the bounds of annotated-types, and classes.
"""

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt, MinLen

from mooring.errors import ConfigError
from mooring.schema._shapes import (
    AS_CONFIGURED,
    Anything,
    Either,
    Flag,
    Instance,
    Items,
    MappingShape,
    Null,
    NumberFormat,
    NumberShape,
    Options,
    RowShape,
    Shape,
    Text,
)

NO_VALUE: Any = object()  # no value and no default: not the same as null
LONGEST_VALUE = 60  # characters of a value in a message


@dataclass(frozen=True)
class Doc:
    """The sentence about a field, in Markdown: `lr: Annotated[Positive, Doc("learning rate")] = 0.01`."""

    sentence: str


@dataclass(frozen=True)
class OnDisk:
    """Marks a text as the path of a file or folder."""


Positive = Annotated[float, Gt(0)]
NonNegative = Annotated[float, Ge(0)]
Fraction = Annotated[float, Ge(0), Le(1)]
OpenFraction = Annotated[float, Ge(0), Lt(1)]  # 1 itself would leave nothing
Count = Annotated[int, Gt(0)]
NonNegativeInt = Annotated[int, Ge(0)]
Seed = Annotated[int, Ge(0), Lt(2**32)]  # what every library takes as a seed
FilePath = Annotated[str, OnDisk()]  # relative to the current folder when it is configured, absolute from then on

PLAIN: dict[Any, Shape] = {Any: Anything(), object: Anything(), bool: Flag(), str: Text(), NoneType: Null()}


@cache
def shape_of(annotation: Any, numbers: NumberFormat = AS_CONFIGURED) -> Shape:
    """The shape that an annotation describes."""
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return with_marks(shape_of(members[0], numbers), members[1:])
    if origin in (Union, UnionType):
        shapes = sorted((shape_of(member, numbers) for member in members), key=order_in_union)
        return Either(tuple(shapes))
    if origin is Literal:
        return Options(members)
    if origin is tuple and members[-1] is not Ellipsis:
        return RowShape(tuple(shape_of(member, numbers) for member in members))
    if origin in (tuple, list):
        return Items(shape_of(members[0], numbers), origin)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return MappingShape(shape_of(members[0], numbers), shape_of(members[1], numbers))
    if annotation in (int, float):
        return NumberShape(annotation is int, format=numbers)
    return PLAIN.get(annotation) or Instance(annotation)


def order_in_union(shape: Shape) -> int:
    """Whole numbers before numbers, so that 1 stays 1; null last."""
    if shape == Null():
        return 2
    return 1 if isinstance(shape, NumberShape) and not shape.whole else 0


def with_marks(shape: Shape, marks: tuple[Any, ...]) -> Shape:
    """The shape within the bounds that `Annotated` adds; a `Doc` says nothing about the value."""
    bounds: dict[str, Any] = {}
    for mark in marks:
        match mark:
            case Ge(ge=end):
                bounds["low"] = end
            case Gt(gt=end):
                bounds["above"] = end
            case Le(le=end):
                bounds["high"] = end
            case Lt(lt=end):
                bounds["below"] = end
            case MinLen(min_length=end):
                bounds["fewest"] = end
            case OnDisk():
                bounds["is_path"] = True
    if bounds and isinstance(shape, Either):  # bounds of what is not null
        return Either(tuple(one if one == Null() else with_marks(one, marks) for one in shape.members))
    return replace(shape, **bounds) if bounds else shape  # type: ignore[type-var]


@cache
def type_hints(cls: type) -> dict[str, Any]:
    """The annotations of a class by field, `Annotated` included."""
    return get_type_hints(cls, include_extras=True)


@cache
def shapes_of(cls: type, numbers: NumberFormat = AS_CONFIGURED) -> dict[str, Shape]:
    """The shape of every field of a dataclass."""
    return {f.name: shape_of(type_hints(cls)[f.name], numbers) for f in fields(cls)}


def sentence_of(cls: type, name: str) -> str:
    """The sentence that stands beside a field; the innermost `Doc` is overridden by those around it."""
    marks = get_args(type_hints(cls)[name])[1:] if get_origin(type_hints(cls)[name]) is Annotated else ()
    return next((mark.sentence for mark in reversed(marks) if isinstance(mark, Doc)), "")


def default_of(f: "Field[Any]") -> Any:
    """The default of a field; NO_VALUE if it is required."""
    if f.default is not MISSING:
        return f.default
    return f.default_factory() if f.default_factory is not MISSING else NO_VALUE


class FieldsError(ConfigError):
    """Fields of one value that do not fit: what is wrong with each, by its name."""

    def __init__(self, cls: type, values: Mapping[str, object], reasons: Mapping[str, str]) -> None:
        self.values, self.reasons = values, reasons
        super().__init__(
            f"{cls.__name__}.{name}={short_repr(values[name])}: {reason}" for name, reason in reasons.items()
        )


class Checked(Protocol):
    """A frozen dataclass that rejects what the annotations of its fields do not allow.

    A protocol, so that protocols may build on it.
    """

    def __post_init__(self) -> None:
        values = {name: getattr(self, name) for name in shapes_of(type(self))}
        problems = {name: shape.problem(values[name]) for name, shape in shapes_of(type(self)).items()}
        reasons = {name: f"must be {problem}" for name, problem in problems.items() if problem}
        low, high = values.get("minimum"), values.get("maximum")
        if not reasons and isinstance(low, float | int) and isinstance(high, float | int) and low > high:
            reasons = {"minimum": f"is above maximum={high}; swap them"}
        if reasons:
            raise FieldsError(type(self), values, reasons)


def short_repr(value: object) -> str:
    """A value in one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."
