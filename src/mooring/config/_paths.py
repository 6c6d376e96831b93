"""Paths in a configuration: absolute once they are read, so that a run can be opened from any folder."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from mooring.schema import Either, Null, Text, shape_of, type_hints

T = TypeVar("T")
PATH = Text(is_path=True)
Change = Callable[[str, str | None], str | None]  # key, path -> path


def with_paths(value: T, change: Change, key: str = "") -> T:
    """The value with every path that its fields declare as `FilePath` changed, however deep it lies."""
    if not is_dataclass(value) or isinstance(value, type):
        return value
    hints, changed = type_hints(type(value)), {}
    for f in fields(value):
        old, name = getattr(value, f.name), f"{key}.{f.name}".lstrip(".")
        new = change(name, old) if is_path(hints[f.name]) else _within(old, change, name)
        if new != old:
            changed[f.name] = new
    return replace(value, **changed) if changed else value


def _within(value: Any, change: Change, key: str) -> Any:
    if isinstance(value, tuple):
        return tuple(with_paths(part, change, f"{key}.{i}") for i, part in enumerate(value))
    return with_paths(value, change, key)


def is_path(hint: Any) -> bool:
    """Does the field hold a path, or null?"""
    return shape_of(hint) in (PATH, Either((PATH, Null())))


def absolute(path: str) -> str:
    """As seen from the current folder."""
    try:
        return str(Path(path).expanduser().absolute())
    except RuntimeError:  # ~someone without a home: reported when the path is used
        return path
