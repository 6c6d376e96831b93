"""Frozen values as plain trees of mappings, lists, text and numbers, and the canonical text and hash of a tree."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from hashlib import sha256
from math import isfinite
from typing import Any

from mooring.errors import ConfigError
from mooring.schema._fields import NO_VALUE, default_of

Tree = dict[str, Any]
Pairs = Callable[[Any], Iterator[tuple[str, Any]]]  # a frozen value -> the fields that its tree shows
CONTENT_HASH = "content"  # in a field's metadata: a function from the value to the hash of the file that it names
LIMIT_ONLY = "guard"  # in a field's metadata: a limit that can stop an experiment but never changes its result
ADDED_LATER = (
    "later"  # in a field's metadata: added when results existed; not hashed at its default, so old hashes hold
)
EXACT = 2**53  # whole numbers below this are the same as int and as float


def kind_of(cls: type) -> Tree:
    """How a tree names this class: by its kind, a user's own class by where it is imported from."""
    key = next((key for key in ("kind", "source") if isinstance(getattr(cls, key, None), str)), None)
    if cls.__module__.partition(".")[0] == "mooring":
        return {key: getattr(cls, key)} if key else {}
    return {key or "kind": f"{cls.__module__}:{cls.__qualname__}"}


def all_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Every field that is part of the value's identity."""
    return ((f.name, getattr(value, f.name)) for f in fields(value) if f.compare)


def hashed_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Every field that decides a result: no guards, and no later fields at their default."""
    return (
        (f.name, part)
        for f in fields(value)
        if f.compare and LIMIT_ONLY not in f.metadata and not is_unset_later(f, part := getattr(value, f.name))
    )


def by_file_hash(value: Any) -> Iterator[tuple[str, Any]]:
    """Every field except later ones at their default, with the hash of a file in place of its path."""
    return (
        (f.name, content_of(f, part))
        for f in fields(value)
        if f.compare and not is_unset_later(f, part := getattr(value, f.name))
    )


def non_default(value: Any) -> Iterator[tuple[str, Any]]:
    """The same, but only what differs from its default: a new field changes no old tree."""
    usual = {f.name for f in fields(value) if is_default(f, getattr(value, f.name))}
    return ((name, part) for name, part in by_file_hash(value) if name not in usual)


def tree_leaves(tree: object, path: str = "") -> Iterator[tuple[str, object]]:
    """{a: {b: 1}, c: [2]} -> a.b, 1 and c.0, 2; an empty mapping or list is a leaf."""
    pairs = tree.items() if isinstance(tree, Mapping) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in pairs:
        yield from tree_leaves(value, f"{path}.{key}" if path else str(key))
    if not pairs or not tree:
        yield path, tree


def mappings_in(tree: object) -> Iterator[Mapping[str, Any]]:
    """Every mapping of a tree, however deep it lies; outer ones come first."""
    waiting = [tree]
    for part in waiting:
        if isinstance(part, Mapping):
            yield part
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part


PLAIN = frozenset({str, int, bool, type(None)})  # most leaves of any tree; tested first, for speed


def to_tree(value: Any, pairs: Pairs = all_fields) -> Any:
    """A frozen value as the tree that builds it again; `pairs` selects its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return kind_of(type(value)) | {name: to_tree(part, pairs) for name, part in pairs(value)}
    if isinstance(value, Mapping):
        return {key: to_tree(part, pairs) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [to_tree(part, pairs) for part in value]
    return value


def record_tree(record: object) -> Any:
    """Records, mappings and sequences as JSON values: every field, but for later ones at their default, and null for a
    number that is not finite."""
    if type(record) in PLAIN:
        return record
    if isinstance(record, float):
        return record if isfinite(record) else None
    if is_dataclass(record) and not isinstance(record, type):
        values = ((f, getattr(record, f.name)) for f in fields(record))
        return {f.name: record_tree(value) for f, value in values if not is_unset_later(f, value)}
    if isinstance(record, Mapping):
        return {str(key): record_tree(part) for key, part in record.items()}
    if isinstance(record, list | tuple):
        return [record_tree(part) for part in record]
    return record


def strict_json(record: object, indent: int | None = None) -> str:
    """JSON that every reader understands: a number that is not finite is null."""
    return json.dumps(record_tree(record), indent=indent, allow_nan=False)


def canonical_json(tree: Any) -> str:
    """One text for one tree: sorted keys, no spaces, ASCII, finite numbers, and 5.0 written as 5."""
    try:
        return json.dumps(canonical_numbers(tree), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            [f"a setting cannot be written down ({error}); use finite numbers, text, true, false, null and lists"]
        ) from None


def digest(tree: Any) -> str:
    """SHA-256 of the canonical text."""
    return sha256(canonical_json(tree).encode()).hexdigest()


def canonical_numbers(tree: Any) -> Any:
    """The tree with 5.0 as 5, so that equal numbers are written alike."""
    if type(tree) in PLAIN:
        return tree
    if isinstance(tree, float) and tree.is_integer() and abs(tree) < EXACT:
        return int(tree)
    if isinstance(tree, Mapping):
        return {key: canonical_numbers(part) for key, part in tree.items()}
    if isinstance(tree, list | tuple):
        return [canonical_numbers(part) for part in tree]
    return tree


def content_of(f: "Field[Any]", value: Any) -> Any:
    return f.metadata[CONTENT_HASH](value) if CONTENT_HASH in f.metadata else value


def is_unset_later(f: "Field[Any]", value: Any) -> bool:
    """Is it a later field at its default?"""
    return ADDED_LATER in f.metadata and is_default(f, value)


def is_default(f: "Field[Any]", value: Any) -> bool:
    default = default_of(f)
    return default is not NO_VALUE and bool(value == default)
