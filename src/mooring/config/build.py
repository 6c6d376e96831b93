"""From a tree to frozen dataclasses, every problem noted with its path.

Values are checked by pydantic; the walk is ours, because slots are open: a user's own class takes part as
`kind: package.module:Class`, and a partial tree changes a value instead of replacing it.
"""

import json
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError

from mooring.bounds import crossed
from mooring.config.field_types import NOTHING, PartKind, PartKinds, adapter, default_of, type_hints
from mooring.config.tree import INHERITED, kind_of, read_file
from mooring.config.trust import HOUSE_CODE, Trust
from mooring.config.user_parts import own_class, unknown_key, writing_problem
from mooring.errors import MOST_PROBLEMS, ConfigError, UserCodeError, nearest
from mooring.user_code import explaining

LONGEST_KEY = 200  # characters of a key that are shown
POSITION = re.compile("[0-9]{1,9}")
BuildProblem = tuple[str, bool, str]  # where, is it only a key that nobody reads, what to tell


def near(path: str, _: Any, neighbours: list[str]) -> str:
    return nearest(path.rpartition(".")[2], neighbours)


@dataclass
class Builder:
    """Builds values and collects problems."""

    slots: PartKinds
    trust: Trust
    meant: Callable[[str, Any, list[str]], str] = near  # a remedy for a key: its path, its value, its neighbours
    problems: list[BuildProblem] = field(default_factory=list)

    def build(self, annotation: Any, tree: Any, base: Any, path: str) -> Any:
        """The value that `tree` describes, `base` filling what it leaves out; NOTHING after a problem."""
        if tree is NOTHING:
            return base
        members = [member for member in get_args(annotation) if member is not type(None)]
        if get_origin(annotation) in (Union, types.UnionType) and len(members) < len(get_args(annotation)):
            if tree is None:
                return None
            if base is None and is_dataclass(members[0]) and members[0] not in self.slots:
                self._problem(path, tree, "this method has no such part; choose one that has", unknown=True)
                return None
            if len(members) == 1:
                return self.build(members[0], tree, NOTHING if base is None else base, path)
        elif len(members) > 1 and all(map(is_dataclass, members)):
            return self._either(members, tree, path)
        if annotation in self.slots:
            return self._slot(annotation, tree, base, path)
        if get_origin(annotation) is dict:
            return self._mapping(members[1], tree, path)
        if get_origin(annotation) is tuple and (members[0] in self.slots or is_dataclass(members[0])):
            return self._sequence(members[0], tree, base, path)
        if is_dataclass(annotation):
            return self._record(annotation, tree, base, path)
        return self._leaf(annotation, tree, path)

    def _slot(self, family: type, tree: Any, base: Any, path: str) -> Any:
        slot = self.slots[family]
        if isinstance(tree, str):
            tree = {slot.key: tree}
        if not isinstance(tree, dict):
            return self._problem(
                path, tree, f"must be a name or a mapping with {slot.key!r}; " + nearest("", slot.kinds)
            )
        tree = dict(tree)
        if slot.key != "name" and "name" in tree:
            tree[slot.key] = tree.pop("name")
        name = tree.pop(slot.key, NOTHING)
        if name is NOTHING:
            if base is NOTHING or base is None:
                return self._problem(path, tree, f"needs {slot.key!r}; " + nearest("", slot.kinds))
            return self._record(type(base), tree, base, path)
        cls = self._kind(family, name, f"{path}.{slot.key}")
        if cls is NOTHING:
            return NOTHING
        return self._record(cls, tree, base if type(base) is cls else NOTHING, path)

    def _kind(self, family: type, name: Any, path: str) -> Any:
        kinds = self.slots[family].kinds
        if isinstance(name, str) and name in kinds:
            return kinds[name]
        if not isinstance(name, str) or ":" not in name:
            return self._problem(path, name, f"unknown; {nearest(str(name), kinds)}")
        try:
            return own_class(name, family, self.slots, self.trust)
        except ConfigError as error:
            return self._problem(path, name, "; ".join(error.problems))

    def _sequence(self, member: Any, tree: Any, base: Any, path: str) -> Any:
        """A list replaces all elements; a mapping changes some, by position or by kind."""
        if isinstance(tree, list):
            parts = [self.build(member, part, NOTHING, f"{path}.{i}") for i, part in enumerate(tree)]
            return NOTHING if NOTHING in parts else tuple(parts)
        if not isinstance(tree, dict) or base is NOTHING:
            return self._problem(path, tree, "must be a list")
        parts = list(base)
        names = [kind_of(type(part)).get("kind", "") for part in parts]
        for key, patch in tree.items():
            where = names.index(key) if key in names else int(key) if POSITION.fullmatch(str(key)) else len(parts)
            if where >= len(parts):
                self._problem(f"{path}.{key}", patch, f"no such element; {nearest(str(key), names)}", unknown=True)
                continue
            parts[where] = self.build(member, patch, parts[where], f"{path}.{key}")
        return NOTHING if NOTHING in parts else tuple(parts)

    def _mapping(self, member: Any, tree: Any, path: str) -> Any:
        if not isinstance(tree, dict):
            return self._problem(path, tree, "must be a mapping of keys to values")
        parts = {str(key): self.build(member, part, NOTHING, f"{path}.{key}") for key, part in tree.items()}
        return NOTHING if NOTHING in parts.values() else parts

    def _either(self, members: list[Any], tree: Any, path: str) -> Any:
        """One of two records, distinguished by shape: a bare list is the record that holds only a list."""
        listed = next(member for member in members if len(fields(member)) == 1)
        mapped = next(member for member in members if member is not listed)
        if isinstance(tree, list):
            return self._record(listed, {fields(listed)[0].name: tree}, NOTHING, path)
        if isinstance(tree, dict):
            return self._record(mapped, tree, NOTHING, path)
        keys = ", ".join(f.name for f in fields(mapped))
        return self._problem(path, tree, f"must be a list of values, or a mapping of {keys}")

    def _record(self, cls: Any, tree: Any, base: Any, path: str) -> Any:
        if not isinstance(tree, dict):
            return self._problem(path, tree, f"must be a mapping of {', '.join(f.name for f in fields(cls))}")
        hints = type_hints(cls)
        given = {str(key): value for key, value in tree.items() if key != INHERITED}
        inherited = {key: value for key, value in tree.get(INHERITED, {}).items() if key in hints}
        known = [f.name for f in fields(cls)]
        for i, key in enumerate(key for key in given if key not in known):
            place = f"{path}.{key}".lstrip(".")
            remedy = self.meant(place, given[key], known) if i < MOST_PROBLEMS else ""
            message = unknown_key(cls, key, remedy) if remedy else "unknown key"  # the rest is only counted
            self._problem(place, given[key], message, unknown=True)
        values: dict[str, Any] = {}
        for f in fields(cls):
            under = getattr(base, f.name) if base is not NOTHING else default_of(f)
            value = self.build(
                hints[f.name], given.get(f.name, inherited.get(f.name, NOTHING)), under, f"{path}.{f.name}"
            )
            if value is NOTHING and under is NOTHING and f.name not in given:
                self._problem(f"{path}.{f.name}", NOTHING, "is required and missing")
            values[f.name] = value
        if reason := crossed(values, f"{path}.".lstrip(".")):
            return self._problem(f"{path}.minimum", values["minimum"], reason)
        return NOTHING if NOTHING in values.values() else self._made(cls, values, tree, path)

    def _made(self, cls: Any, values: Mapping[str, Any], tree: Any, path: str) -> Any:
        """What fits field by field may still not fit together; its constructor says so."""
        try:
            with explaining():
                made = cls(**values)
        except ConfigError as error:
            return self._problem(path, tree, "; ".join(error.problems))
        except UserCodeError as error:
            return self._problem(path, NOTHING, f"{error}; mend it there, or give another value")
        problem = writing_problem(made)
        return made if problem is None else self._problem(path, NOTHING, problem)

    def _leaf(self, annotation: Any, tree: Any, path: str) -> Any:
        try:
            return adapter(annotation).validate_json(json.dumps(tree, allow_nan=False), strict=True)
        except ValidationError as error:
            reasons = {
                problem["msg"].replace("Input should be", "must be").replace("JSON ", "") for problem in error.errors()
            }
            return self._problem(path, tree, "; or ".join(sorted(reasons)))
        except (TypeError, ValueError):
            return self._problem(path, tree, "must be a plain finite value (number, text, true, false, null or a list)")

    def note(self, path: str, value: Any, reason: str, unknown: bool = False) -> None:
        """A problem found outside the walk."""
        self._problem(path, value, reason, unknown)

    def failed(self) -> bool:
        return any(not unknown for _, unknown, _ in self.problems)

    def _problem(self, path: str, value: Any, reason: str, unknown: bool = False) -> Any:
        path = path.lstrip(".")
        name, value = deepest(path, value)
        name = name if len(name) <= LONGEST_KEY else f"{name[:LONGEST_KEY]}..."
        shown = name if value is NOTHING else f"{name}={shorten(value)}"
        self.problems.append((path, unknown, f"{shown}: {reason}"))
        return NOTHING


def deepest(path: str, value: Any) -> tuple[str, Any]:
    """`weight`, {max: 3} -> `weight.max`, 3: as somebody wrote it on a command line"""
    while isinstance(value, dict) and len(value) == 1:
        [(key, value)] = value.items()
        path = f"{path}.{key}"
    return path, value


def shorten(value: Any) -> str:
    text = (
        value if isinstance(value, str) else str(value) if isinstance(value, dict) else json.dumps(value, default=str)
    )
    return text if len(text) <= 60 else text[:57] + "..."


T = TypeVar("T")


def load_value(cls: type[T], file: Path, families: Mapping[type, Mapping[str, type]]) -> T:
    """The dataclass `cls` that the file describes; members of `families` are named by their `kind`."""
    builder = Builder({family: PartKind("kind", kinds) for family, kinds in families.items()}, HOUSE_CODE)
    value = builder.build(cls, read_file(file), NOTHING, "")
    if builder.problems:
        raise ConfigError(dict.fromkeys(f"{file.name}: {message}" for _, _, message in builder.problems))
    built: T = value
    return built
