"""What a field of a frozen value may hold: its type, its family, its default."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter

NOTHING = object()  # no base, no value: not the same as null


@dataclass(frozen=True)
class PartKind:
    """A place for a value of an open family: which key names the kind, and the kinds there are."""

    key: str
    kinds: Mapping[str, type]


PartKinds = Mapping[type, PartKind]  # by family


@cache
def adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


@cache
def type_hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


def default_of(f: Any) -> Any:
    if f.default is not MISSING:
        return f.default
    return f.default_factory() if f.default_factory is not MISSING else NOTHING
