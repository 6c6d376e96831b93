"""From plain trees to frozen values. Every problem is collected with its path, its value and a remedy.

A field may hold a part of an open family. The tree names its class by `kind`, and a class of a user takes part as
`kind: package.module:Class`. A partial tree changes a value (`base`) instead of replacing it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple

from mooring.errors import MOST_PROBLEMS, ConfigError, UserCodeError, nearest
from mooring.schema._fields import LONGEST_VALUE, NO_VALUE, FieldsError, default_of, shape_of, shapes_of
from mooring.schema._shapes import (
    AS_CONFIGURED,
    AS_RECORDED,
    Either,
    Instance,
    Items,
    MappingShape,
    Null,
    NumberFormat,
    RowShape,
    Shape,
)
from mooring.schema._trees import kind_of
from mooring.user_code import explaining

LONGEST_KEY = 200  # characters of a key that are shown
DEEPEST = 64  # levels of a tree
INHERITED_KEYS = "\0inherited"  # keys of a mapping whose kind was changed by a later layer: used where they still fit


@dataclass(frozen=True)
class PartKind:
    """A family of parts: which key names the kind, and the kinds there are."""

    key: str
    kinds: Mapping[str, type]


PartKinds = Mapping[type, PartKind]  # by family


class BuildProblem(NamedTuple):
    """What is wrong at a place of the tree."""

    path: str
    is_unknown_key: bool  # nothing reads this key
    message: str


class MalformedRecordError(ValueError):
    """A tree that does not describe such a record: where, and what is wrong."""


def nearest_neighbour(path: str, _: Any, neighbours: list[str]) -> str:
    return nearest(path.rpartition(".")[2], neighbours)


def no_user_class(name: str, family: type) -> type:
    raise ConfigError(["unknown; pass the class itself when you load it: none is imported by name"])


def no_problem(_: Any) -> None:
    return None


def only_unknown(cls: type, key: str, remedy: str) -> str:
    return f"unknown key; {remedy}"


@dataclass
class Builder:
    """Builds values and collects problems."""

    kinds: PartKinds = field(default_factory=dict)
    suggest: Callable[[str, Any, list[str]], str] = nearest_neighbour  # path, value, known keys -> remedy
    find_class: Callable[[str, type], type] = no_user_class  # package.module:Class, family -> class, or ConfigError
    part_problem: Callable[[Any], str | None] = no_problem  # what is wrong with a part that was built
    unknown_key: Callable[[type, str, str], str] = only_unknown  # class, key, remedy -> message
    ignores_unknown_keys: bool = False
    numbers: NumberFormat = AS_CONFIGURED
    problems: list[BuildProblem] = field(default_factory=list)

    def build(self, annotation: Any, tree: Any, base: Any = NO_VALUE, path: str = "") -> Any:
        """The value that `tree` describes, `base` filling what it leaves out; NO_VALUE after a problem."""
        return base if tree is NO_VALUE else self._build(shape_of(annotation, self.numbers), tree, base, path)

    def failed(self) -> bool:
        return any(not problem.is_unknown_key for problem in self.problems)

    def note(self, path: str, value: Any, reason: str, unknown: bool = False) -> Any:
        """Add a problem; `unknown` if it is only that nothing reads this key."""
        path = path.lstrip(".")
        name, value = deepest_key(path, value)
        name = name if len(name) <= LONGEST_KEY else f"{name[:LONGEST_KEY]}..."
        shown = name if value is NO_VALUE else f"{name}={shorten(value)}" if name else shorten(value)
        self.problems.append(BuildProblem(path, unknown, f"{shown}: {reason}"))
        return NO_VALUE

    def _build(self, shape: Shape, tree: Any, base: Any, path: str) -> Any:
        if not shape.classes:
            value = shape.convert(tree)
            problem = shape.problem(value)
            return value if problem is None else self.note(path, tree, f"must be {problem}")
        if path.count(".") > DEEPEST:
            return self.note(path, NO_VALUE, f"is nested more than {DEEPEST} levels deep; write it flatter")
        match shape:
            case Either():
                return self._either(shape, tree, base, path)
            case Items(member):
                return self._items(member, tree, base, path)
            case RowShape(members):
                return self._row(members, tree, path)
            case MappingShape():
                return self._table(shape, tree, path)
            case Instance(cls) if cls in self.kinds:
                return self._part(cls, tree, base, path)
            case Instance(cls) if is_dataclass(cls):
                return self._record(cls, tree, base, path)
        return self.note(path, NO_VALUE, f"has a type that cannot be configured ({shape.words})")

    def _either(self, shape: Either, tree: Any, base: Any, path: str) -> Any:
        if tree is None and shape.nullable:
            return None
        members = [member for member in shape.members if member != Null()]
        if len(members) == 1:
            if base is None and isinstance(members[0], Instance) and members[0].cls not in self.kinds:
                self.note(path, tree, "this method has no such part; choose one that has", unknown=True)
                return None
            return self._build(members[0], tree, NO_VALUE if base is None else base, path)
        records = [member.cls for member in members if isinstance(member, Instance)]
        listed = [cls for cls in records if [type(one) for one in shapes_of(cls).values()] == [Items]]
        mapped = [cls for cls in records if cls not in listed]
        if isinstance(tree, list) and listed:  # a bare list stands for the record that holds only a list
            return self._record(listed[0], {fields(listed[0])[0].name: tree}, NO_VALUE, path)
        if isinstance(tree, dict) and mapped:
            fitting = [cls for cls in mapped if required_fields(cls) <= tree.keys()]
            return self._record((fitting or mapped)[0], tree, NO_VALUE, path)
        plain = Either(tuple(member for member in members if not member.classes))
        if plain.members:
            return self._build(plain, tree, NO_VALUE, path)
        choices = ["a list of values"] * bool(listed) + [mapping_words(cls) for cls in mapped]
        return self.note(path, tree, f"must be {', or '.join(choices)}")

    def _part(self, family: type, tree: Any, base: Any, path: str) -> Any:
        slot = self.kinds[family]
        if isinstance(tree, str):
            tree = {slot.key: tree}
        if not isinstance(tree, dict):
            remedy = nearest("", slot.kinds)
            return self.note(path, tree, f"must be a name or a mapping with {slot.key!r}; {remedy}")
        tree = dict(tree)
        if slot.key != "name" and "name" in tree:
            tree[slot.key] = tree.pop("name")
        name = tree.pop(slot.key, NO_VALUE)
        if name is NO_VALUE:
            if base is NO_VALUE or base is None:
                return self.note(path, tree, f"needs {slot.key!r}; {nearest('', slot.kinds)}")
            return self._record(type(base), tree, base, path)
        cls = self._class_of(family, name, f"{path}.{slot.key}")
        if cls is NO_VALUE:
            return NO_VALUE
        return self._record(cls, tree, base if type(base) is cls else NO_VALUE, path)

    def _class_of(self, family: type, name: Any, path: str) -> Any:
        kinds = self.kinds[family].kinds
        if isinstance(name, str) and name in kinds:
            return kinds[name]
        if not isinstance(name, str) or ":" not in name:
            return self.note(path, name, f"unknown; {nearest(str(name), kinds)}")
        try:
            return self.find_class(name, family)
        except ConfigError as error:
            return self.note(path, name, "; ".join(error.problems))

    def _items(self, member: Shape, tree: Any, base: Any, path: str) -> Any:
        """A list replaces all elements; a mapping changes some, by position or by kind."""
        if isinstance(tree, list | tuple):
            parts = [self._build(member, part, NO_VALUE, f"{path}.{i}") for i, part in enumerate(tree)]
            return NO_VALUE if NO_VALUE in parts else tuple(parts)
        if not isinstance(tree, dict) or base is NO_VALUE:
            return self.note(path, tree, "must be a list")
        parts = list(base)
        names = [kind_of(type(part)).get("kind", "") for part in parts]
        for key, patch in tree.items():
            position = int(key) if str(key).isdecimal() and len(str(key)) < 10 else len(parts)
            where = names.index(key) if key in names else position
            if where >= len(parts):
                self.note(f"{path}.{key}", patch, f"no such element; {nearest(str(key), names)}", unknown=True)
                continue
            parts[where] = self._build(member, patch, parts[where], f"{path}.{key}")
        return NO_VALUE if NO_VALUE in parts else tuple(parts)

    def _row(self, members: tuple[Shape, ...], tree: Any, path: str) -> Any:
        if not isinstance(tree, list | tuple) or len(tree) != len(members):
            return self.note(path, tree, f"must be a list of {len(members)}")
        pairs = enumerate(zip(members, tree, strict=True))
        parts = [self._build(member, part, NO_VALUE, f"{path}.{i}") for i, (member, part) in pairs]
        return NO_VALUE if NO_VALUE in parts else tuple(parts)

    def _table(self, shape: MappingShape, tree: Any, path: str) -> Any:
        if not isinstance(tree, Mapping):
            return self.note(path, tree, "must be a mapping of keys to values")
        keys = {key: shape.convert_key(key) for key in tree}
        for key in keys.values():
            if reason := shape.key.problem(key):
                return self.note(f"{path}.{key}", NO_VALUE, f"is a key that must be {reason}")
        parts = {keys[key]: self._build(shape.member, part, NO_VALUE, f"{path}.{key}") for key, part in tree.items()}
        return NO_VALUE if NO_VALUE in parts.values() else parts

    def _record(self, cls: Any, tree: Any, base: Any, path: str) -> Any:
        if not isinstance(tree, dict):
            return self.note(path, tree, f"must be {mapping_words(cls)}")
        shapes, inherited = shapes_of(cls, self.numbers), tree.get(INHERITED_KEYS)
        given = {**inherited, **tree} if isinstance(inherited, dict) else tree
        if not self.ignores_unknown_keys:
            ours = [key for key in tree if key not in shapes and key != INHERITED_KEYS]
            for i, key in enumerate(ours):
                place = f"{path}.{key}".lstrip(".")
                remedy = self.suggest(place, tree[key], list(shapes)) if i < MOST_PROBLEMS else ""
                message = self.unknown_key(cls, str(key), remedy) if remedy else "unknown key"  # the rest is counted
                self.note(place, tree[key], message, unknown=True)
        values: dict[str, Any] = {}
        for f in fields(cls):
            usual = getattr(base, f.name) if base is not NO_VALUE else default_of(f)
            if f.name in given:
                under = NO_VALUE if usual is None and base is NO_VALUE else usual
                values[f.name] = self._build(shapes[f.name], given[f.name], under, f"{path}.{f.name}")
            elif usual is NO_VALUE:
                values[f.name] = self.note(f"{path}.{f.name}", NO_VALUE, "is required and missing")
            else:
                values[f.name] = usual
        if any(value is NO_VALUE for value in values.values()):
            return NO_VALUE
        return self._made(cls, values, tree, path)

    def _made(self, cls: Any, values: Mapping[str, Any], tree: Any, path: str) -> Any:
        """What fits field by field may still not fit together; its constructor says so."""
        try:
            with explaining():
                made = cls(**values)
        except FieldsError as error:
            for name, reason in error.reasons.items():
                self.note(f"{path}.{name}", values[name], reason)
            return NO_VALUE
        except ConfigError as error:
            return self.note(path, tree, "; ".join(error.problems))
        except UserCodeError as error:
            return self.note(path, NO_VALUE, f"{error}; mend it there, or give another value")
        except ValueError as error:
            return self.note(path, tree, str(error))
        problem = self.part_problem(made)
        return made if problem is None else self.note(path, NO_VALUE, problem)


def mapping_words(cls: Any) -> str:
    return f"a mapping of {', '.join(f.name for f in fields(cls))}"


def required_fields(cls: Any) -> set[str]:
    return {f.name for f in fields(cls) if default_of(f) is NO_VALUE}


def deepest_key(path: str, value: Any) -> tuple[str, Any]:
    """`weight`, {max: 3} -> `weight.max`, 3: as somebody wrote it on a command line"""
    while isinstance(value, dict) and len(value) == 1:
        [(key, value)] = value.items()
        path = f"{path}.{key}"
    return path, value


def shorten(value: Any) -> str:
    """A value in one short line, as YAML has it."""
    text = (
        value if isinstance(value, str) else str(value) if isinstance(value, dict) else json.dumps(value, default=str)
    )
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def from_tree(kind: Any, tree: object, where: str = "", signed: bool = False) -> Any:
    """The record of this kind that a JSON tree describes; MalformedRecordError says where it does not.

    Unknown keys are ignored, because a later version may write more. In a `signed` tree they are rejected, because a
    key that is ignored may be the one that was signed for: `keY` instead of `key` would leave a site without its key.
    """
    builder = Builder(numbers=AS_RECORDED, ignores_unknown_keys=not signed)
    value = builder.build(kind, tree, NO_VALUE, where)
    if builder.problems:
        raise MalformedRecordError(builder.problems[0].message)
    return value
