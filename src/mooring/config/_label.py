"""The label of a method whose parts were changed: `v7 + weight=lab.parts:Sine`."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from mooring.config._keys import full_key, meanings, shortest
from mooring.schema import NO_VALUE, default_of, kind_of, to_tree
from mooring.wording import plural

LONGEST = 71  # letters of a folder name, before the eight of its fingerprint


def changed_settings(base: Any, value: Any, key: str = "method") -> Iterator[tuple[str, Any]]:
    """The settings in which `value` differs from `base`; fields that are only shown are not settings."""
    if not is_dataclass(value) or isinstance(value, type):
        if isinstance(value, tuple) and isinstance(base, tuple) and alike(base, value):
            for name, old, new in zip(places(value), base, value, strict=True):
                yield from changed_settings(old, new, f"{key}.{name}")
        elif base != value:
            yield key, value
        return
    if type(base) is not type(value):
        yield key, kind(value)
    for f in fields(value):
        if f.compare:
            old = getattr(base, f.name) if type(base) is type(value) else default_of(f)
            yield from changed_settings(old, getattr(value, f.name), f"{key}.{f.name}")


def alike(base: tuple[Any, ...], value: tuple[Any, ...]) -> bool:
    """Are they the same kinds of parts in the same order, so that changes can be named one by one?"""
    return [type(part) for part in base] == [type(part) for part in value] and all(map(is_dataclass, value))


def places(parts: tuple[Any, ...]) -> list[str]:
    """How a key reaches each part: by its kind where that is a plain word and the only one, else by its position."""
    kinds = [kind(part) for part in parts]
    return [
        name if "kind" in kind_of(type(part)) and ":" not in name and kinds.count(name) == 1 else str(i)
        for i, (name, part) in enumerate(zip(kinds, parts, strict=True))
    ]


def kind(part: Any) -> str:
    return str(kind_of(type(part)).get("kind", type(part).__name__))


def changes(base: Any, method: Any) -> dict[str, str]:
    """Key -> value of everything that was changed, as one would write it on the command line."""
    return {shortest(key): value_text(value) for key, value in changed_settings(base, method) if value is not NO_VALUE}


def value_text(value: Any) -> str:
    if isinstance(value, tuple) and value and all(map(is_dataclass, value)):
        return f"[{', '.join(map(brief, value))}]"
    tree = to_tree(value)
    if isinstance(tree, str):
        return tree
    if isinstance(tree, float) and tree.is_integer() and abs(tree) < 2**53:
        return str(int(tree))
    return json.dumps(tree)


def brief(part: Any) -> str:
    """A part in a list: its kind, and the settings that are not the usual ones."""
    settings = {f.name: getattr(part, f.name) for f in fields(part) if getattr(part, f.name) != default_of(f)}
    changes = "".join(f", {name}: {value_text(value)}" for name, value in settings.items())
    return f"{{kind: {kind(part)}{changes}}}" if changes else kind(part)


@dataclass(frozen=True)
class MethodLabel:
    """A method by its name, and the settings of it that were changed; as text `v7 + fusion=class-expert`."""

    name: str
    changes: Mapping[str, str]

    def beside(self, keys: Collection[str]) -> "MethodLabel":
        """Without the changes that these keys, such as the factors of a sweep, say already."""
        named_keys = [place for key in keys for place in meanings(key)]
        others = {
            key: value
            for key, value in self.changes.items()
            if not any(full_key(key) == other or full_key(key).startswith(f"{other}.") for other in named_keys)
        }
        return MethodLabel(self.name, others)

    def short(self, longest: int) -> str:
        """The text if it is not too long; otherwise the number of changes: `v7 + 3 changes`"""
        return str(self) if len(str(self)) <= longest else f"{self.name} + {plural(len(self.changes), 'change')}"

    def __str__(self) -> str:
        changes = ", ".join(f"{key}={value}" for key, value in self.changes.items())
        return f"{self.name} + {changes}" if changes else self.name


def folder_name(text: str) -> str:
    """Letters, digits, `-`, `_` and `.` alone, and not many: the name of a folder on every system.

    Of a user's own part only the name of the class is kept: `weight=lab.parts:Sine` -> `weight-sine`.
    """
    plain = re.sub(r"(?<==)[\w.]+:(?=\w)", "", text)
    return re.sub(r"[^a-z0-9._]+", "-", plain.lower())[:LONGEST].strip("-._")
