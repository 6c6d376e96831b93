"""Frozen records as JSON and back: every field checked by its type, a mistake reported by its path.

A number that is not finite is null in JSON. Read back, null is None where a field may be None, and not-a-number where
it may not. A whole number beyond 2^53, which not every reader of JSON could tell from its neighbour, is rejected. Keys
that no field has are passed over: a later version may say more.
"""

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from mooring.trees import PLAIN

NONE = type(None)
LARGEST = 2**53


class MalformedRecordError(ValueError):
    """JSON that is no such record: where, and what is wrong."""


def strict_json(value: object, indent: int | None = None) -> str:
    """JSON that every reader understands: a number that is not finite becomes null."""
    return json.dumps(as_tree(value), indent=indent, allow_nan=False)


def as_tree(value: object) -> object:
    """Records, mappings and sequences as plain JSON values."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: as_tree(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_tree(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_tree(part) for part in value]
    return value


def from_tree(annotation: Any, tree: object, where: str = "") -> Any:
    """The value of this type that a JSON tree describes."""
    origin, members = get_origin(annotation), get_args(annotation)
    if annotation is Any or annotation is object:
        return tree
    if origin in (Union, types.UnionType):
        return _alternative(members, tree, where)
    if is_dataclass(annotation):
        return _record(annotation, tree, where)
    if origin is tuple:
        return _sequence(members, tree, where)
    if origin is not None and issubclass_of_mapping(origin):
        return _mapping(members, tree, where)
    if origin is Literal:
        return _checked(tree in members, tree, where, f"one of {', '.join(map(str, members))}")
    return _plain(annotation, tree, where)


def issubclass_of_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _alternative(members: tuple[Any, ...], tree: object, where: str) -> Any:
    """The member that a JSON value can be: JSON tells null, text and numbers apart, its required fields a record."""
    if tree is None and NONE in members:
        return None
    kinds = [member for member in members if member is not NONE]
    if len(kinds) == 1:
        return from_tree(kinds[0], tree, where)
    for kind in kinds:
        if _required(kind) <= tree.keys() if is_dataclass(kind) and isinstance(tree, dict) else type(tree) is kind:
            return from_tree(kind, tree, where)
    raise MalformedRecordError(f"{where}={str(tree)[:40]} is none of {', '.join(kind.__name__ for kind in kinds)}")


def _required(kind: Any) -> set[str]:
    return {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}


def _record(kind: Any, tree: object, where: str) -> Any:
    if not isinstance(tree, dict):
        raise MalformedRecordError(f"{where} is no object".lstrip())
    hints = _hints(kind)
    values = {}
    for f in fields(kind):
        path = f"{where}.{f.name}" if where else f.name
        if f.name in tree:
            values[f.name] = from_tree(hints[f.name], tree[f.name], path)
        elif f.default is MISSING and f.default_factory is MISSING:
            raise MalformedRecordError(f"{path} is missing")
    try:
        return kind(**values)
    except ValueError as error:
        raise MalformedRecordError(f"{where}: {error}") from None


def _sequence(members: tuple[Any, ...], tree: object, where: str) -> tuple[Any, ...]:
    if not isinstance(tree, list):
        raise MalformedRecordError(f"{where} is no list")
    return tuple(from_tree(members[0], part, f"{where}[{i}]") for i, part in enumerate(tree))


def _mapping(members: tuple[Any, ...], tree: object, where: str) -> dict[Any, Any]:
    if not isinstance(tree, dict):
        raise MalformedRecordError(f"{where} is no object")
    key_type, value_type = members
    return {_key(key_type, key, where): from_tree(value_type, part, f"{where}.{key}") for key, part in tree.items()}


def _key(kind: Any, key: str, where: str) -> Any:
    try:
        return from_tree(kind, kind(key), where)
    except ValueError:
        raise MalformedRecordError(f"{where} has the key {key[:40]!r}, which is no number") from None


def _plain(kind: Any, tree: object, where: str) -> Any:
    if kind is float:
        if tree is None:
            return math.nan
        return float(_checked(_is_number(tree), tree, where, "a number"))  # type: ignore[arg-type]
    if kind is int:
        return _checked(_is_whole(tree), tree, where, "a whole number up to 2^53")
    return _checked(isinstance(tree, kind), tree, where, {str: "text", bool: "true or false"}.get(kind, kind.__name__))


def _is_whole(tree: object) -> bool:
    return isinstance(tree, int) and not isinstance(tree, bool) and abs(tree) <= LARGEST


def _is_number(tree: object) -> bool:
    return isinstance(tree, int | float) and not isinstance(tree, bool) and abs(tree) < 1e308


def _checked(sound: bool, tree: object, where: str, wanted: str) -> object:
    if not sound:
        raise MalformedRecordError(f"{where}={str(tree)[:40]} is not {wanted}")
    return tree


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
