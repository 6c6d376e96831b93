"""Frozen values as plain trees of mappings, lists, text and numbers; and trees as one canonical text with one hash."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from hashlib import sha256
from typing import Any

from mooring.errors import ConfigError

Tree = dict[str, Any]
Pairs = Callable[[Any], Iterator[tuple[str, Any]]]  # a frozen value -> the fields that its tree shows
CONTENT = "content"  # in a field's metadata: a function from the field's value to the name of what it stands for
GUARD = "guard"  # in a field's metadata: it can stop an experiment, and never changes what comes out
LATER = "later"  # in a field's metadata: it came when there were results; at its default it is in no hash, as before
EXACT = 2**53  # whole numbers below this are the same as int and as float


def kind_of(cls: type) -> Tree:
    """How a tree names this class: by its kind, a user's own class by where it is imported from."""
    key = next((key for key in ("kind", "source") if isinstance(getattr(cls, key, None), str)), None)
    if cls.__module__.partition(".")[0] == "mooring":
        return {key: getattr(cls, key)} if key else {}
    return {key or "kind": f"{cls.__module__}:{cls.__qualname__}"}


def all_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """All fields that are part of the value's identity, as they are."""
    return ((f.name, getattr(value, f.name)) for f in fields(value) if f.compare)


def hashed_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """The same without guards, and without later fields that say nothing: all that decides a result."""
    return (
        (f.name, part)
        for f in fields(value)
        if f.compare and GUARD not in f.metadata and not is_unset_later(f, part := getattr(value, f.name))
    )


def by_file_hash(value: Any) -> Iterator[tuple[str, Any]]:
    """The same, and a file by what is in it: the same wherever it lies, another when it has changed."""
    return (
        (f.name, content_of(f, part))
        for f in fields(value)
        if f.compare and not is_unset_later(f, part := getattr(value, f.name))
    )


def non_default(value: Any) -> Iterator[tuple[str, Any]]:
    """By content, and only what differs from its default: a field that is added later changes no old tree."""
    usual = {f.name for f in fields(value) if is_default(f, getattr(value, f.name))}
    return ((name, part) for name, part in by_file_hash(value) if name not in usual)


PLAIN = frozenset({str, int, bool, type(None)})  # most of any tree: asked first, because most trees are asked often


def to_tree(value: Any, pairs: Pairs = all_fields) -> Any:
    """A frozen value as the tree that builds it again; `pairs` says which of its fields are shown, and how."""
    if is_dataclass(value) and not isinstance(value, type):
        return kind_of(type(value)) | {name: to_tree(part, pairs) for name, part in pairs(value)}
    if isinstance(value, Mapping):
        return {key: to_tree(part, pairs) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [to_tree(part, pairs) for part in value]
    return value


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
    """Equal numbers are written alike, whoever wrote them."""
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
    return f.metadata[CONTENT](value) if CONTENT in f.metadata else value


def is_unset_later(f: "Field[Any]", value: Any) -> bool:
    """Is it a later field at its default?"""
    return LATER in f.metadata and is_default(f, value)


def is_default(f: "Field[Any]", value: Any) -> bool:
    if f.default_factory is not MISSING:
        return bool(value == f.default_factory())
    return f.default is not MISSING and bool(value == f.default)
