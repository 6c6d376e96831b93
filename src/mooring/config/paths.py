"""Paths in a configuration: absolute once they are read, so that a run can be opened from any folder."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_args

from mooring.config.field_types import type_hints
from mooring.types import OnDisk

T = TypeVar("T")
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
    return OnDisk() in get_args(hint) or any(OnDisk() in get_args(member) for member in get_args(hint))


def absolute(path: str) -> str:
    """As seen from the current folder."""
    try:
        return str(Path(path).expanduser().absolute())
    except RuntimeError:  # ~someone without a home: reported when the path is used
        return path
