"""Parts that users write themselves: imported by `package.module:NAME`, and checked before anything runs.

The shape of a class is compared with its family when it is configured, not when the first client uses it.
"""

import ast
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from inspect import getsource, getsourcefile
from operator import attrgetter
from typing import Any, get_args, get_type_hints

from mooring.config._trust import Trust, named_module
from mooring.errors import ConfigError, nearest
from mooring.models import Backbone, backbone_of, is_factory
from mooring.schema import PartKinds, shape_of, to_tree, type_hints
from mooring.user_code import HOUSE, Place, explained, place_of
from mooring.wording import class_words

PLAIN = "numbers, text, true, false, null, tuples of these, or parts"


def shape_problem(cls: type, family: type, key: str = "kind") -> str | None:
    """What keeps a class from being a part of this family, with its line and a remedy; None if nothing does."""
    return not_frozen(cls) or untyped(cls) or nameless(cls, key) or lacking(cls, family) or uncallable(cls, family)


def not_frozen(cls: Any) -> str | None:
    settings = getattr(cls, "__dataclass_params__", None)
    if settings is not None and settings.frozen:
        return None
    return f"{place_of(cls)}: {cls.__name__} is not a frozen dataclass; write @dataclass(frozen=True) above it"


def untyped(cls: type) -> str | None:
    try:
        get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        return f"{place_of(cls)}: a field of {cls.__name__} has an unknown type ({error}); import it, or use float"
    return None


def nameless(cls: Any, key: str) -> str | None:
    """A part is called by its kind, which is the same for all its values."""
    if isinstance(getattr(cls, key, None), str) and key not in {f.name for f in fields(cls)}:
        return None
    return f'{place_of(cls)}: {cls.__name__} has no {key}; add {key}: ClassVar[str] = "{class_words(cls, "-")}"'


def lacking(cls: Any, family: type) -> str | None:
    """Members of the family that the class does not have."""
    if not is_protocol(family) and not issubclass(cls, family):
        wanted = f"class {cls.__name__}({family.__name__})"
        return f"{place_of(cls)}: {cls.__name__} is not a valid {class_words(family)}; write {wanted}"
    given = {f.name for f in fields(cls)}
    missing = [
        f"{name}({', '.join(parameters(member))})" if inspect.isfunction(member) else name
        for name, member in members(family).items()
        if name not in given and (found(cls, name) is None or (found(cls, name) is member and empty(member)))
    ]
    if not missing:
        return None
    return f"{place_of(cls)}: {cls.__name__} is not a valid {class_words(family)}; add {', '.join(missing)}"


def uncallable(cls: type, family: type) -> str | None:
    """Methods that cannot take what they will be given, and properties that are methods."""
    for name, member in members(family).items():
        own = found(cls, name)
        if inspect.isfunction(member) and not takes(own, len(parameters(member))):
            wanted = ", ".join(["self", *parameters(member)])
            place = place_of(own if inspect.isfunction(own) else cls)
            return f"{place}: {cls.__name__}.{name} cannot be called as it will be; write def {name}({wanted})"
        if isinstance(member, property) and inspect.isfunction(own):
            return f"{place_of(own)}: {cls.__name__}.{name} is a method; write @property above it"
    return None


def takes(method: Any, count: int) -> bool:
    """Can it be called with so many arguments?"""
    function = method.__func__ if isinstance(method, staticmethod | classmethod) else method
    try:
        inspect.signature(function).bind(*range(count + (not isinstance(method, staticmethod))))
    except TypeError:
        return False
    return True


def parameters(method: Callable[..., Any]) -> list[str]:
    """Without `self`."""
    return list(inspect.signature(method).parameters)[1:]


def members(family: type) -> dict[str, Any]:
    """What a family asks of its parts: methods and properties by name."""
    if not is_protocol(family):
        return {name: found(family, name) for name in sorted(getattr(family, "__abstractmethods__", ()))}
    return {
        name: member
        for base in reversed(family.__mro__)
        if is_protocol(base)
        for name, member in vars(base).items()
        if name == "__call__" or (name[0] != "_" and (inspect.isfunction(member) or isinstance(member, property)))
    }


def is_protocol(family: type) -> bool:
    return bool(getattr(family, "_is_protocol", False))


def found(cls: type, name: str) -> Any:
    """A member as it is written in the class or a base of it; a class can be called itself, hence no getattr."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def empty(member: Any) -> bool:
    """Is it a stub of a protocol, which does nothing?"""
    code = inspect.unwrap(member.fget if isinstance(member, property) else member).__code__  # type: ignore[arg-type]
    return not code.co_names and set(code.co_consts) <= {None, member.__doc__}


def import_object(name: str, trust: Trust, remedy: str = "write package.module:NAME") -> Any:
    """The trusted object called `package.module:NAME`; an error in its import is reported with its line."""
    module, _, attribute = name.partition(":")
    if not all(part.isidentifier() for part in f"{module}.{attribute}".split(".")):
        raise ConfigError(["cannot be imported (not a valid name); write package.module:NAME"])
    trust.require(name)
    try:
        found = named_module(module)
    except (Exception, SystemExit) as error:
        if module.partition(".")[0] == HOUSE and not isinstance(error, ModuleNotFoundError):
            raise  # not the user's to mend
        mistake = explained(error)
        reason = f"{mistake}; mend it there" if mistake else f"cannot be imported ({error}); {remedy}"
        raise ConfigError([reason]) from None
    try:
        return attrgetter(attribute)(found)
    except AttributeError:
        there = [known for known in vars(found) if known[0] != "_"]
        raise ConfigError([f"module {module} has no {attribute!r}; {nearest(attribute, there)}"]) from None


def described(name: str, thing: Any) -> str:
    """`lab/parts.py:7: is a float`: what was found under `package.module:NAME`, and where it gets that name."""
    module, _, attribute = name.partition(":")
    what = f"is a {type(thing).__name__}"
    try:
        file, source = getsourcefile(sys.modules[module]), getsource(sys.modules[module])
    except (OSError, TypeError):  # a module without a file
        return what
    lines = [node.lineno for node in ast.parse(source).body if attribute in assigned_names(node)]
    return f"{Place(file or module, lines[-1] if lines else 1)}: {what}"


def assigned_names(node: ast.stmt) -> list[str]:
    """The names that a statement at the top of a module gives."""
    targets = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    return [getattr(node, "name", ""), *targets]


def own_class(name: str, family: type, kinds: PartKinds, trust: Trust) -> type:
    """The user's class called `package.module:Class`, if it has the shape of this family."""
    cls = import_object(name, trust)
    if family is Backbone and is_factory(cls):  # a plain nn.Module, or a function that returns one
        cls = backbone_of(cls)
    if not isinstance(cls, type):
        raise ConfigError([f"{described(name, cls)}; name a class: a frozen dataclass whose fields are keys"])
    problem = class_problem(cls, family, kinds)
    if problem:
        raise ConfigError([problem])
    return cls


def class_problem(cls: Any, family: type, slots: PartKinds) -> str | None:
    """What keeps a user's class from being of this family; and of which it is, if it is of another one."""
    problem = shape_problem(cls, family, slots[family].key)
    if problem is not None:
        others = [class_words(other) for other, slot in slots.items() if shape_problem(cls, other, slot.key) is None]
        return f"{problem} ({cls.__name__} has the shape of a {' or '.join(others)})" if others else problem
    for name in [f.name for f in fields(cls) if not configurable(type_hints(cls)[f.name], slots)]:
        return f"{place_of(cls)}: {cls.__name__}.{name} has a type that cannot be configured; use {PLAIN}"
    return None


def configurable(annotation: Any, slots: PartKinds) -> bool:
    """Can a tree say what this field holds?"""
    return all(cls in slots or is_dataclass(cls) for cls in shape_of(annotation).classes)


def unknown_key(cls: type, key: str, remedy: str) -> str:
    """The message for an unknown key; a user may have forgotten the type that makes it a field."""
    if cls.__module__.partition(".")[0] != HOUSE and key in vars(cls) and key not in cls.__annotations__:
        return f"{place_of(cls)}: {key} has no type, which would make it a field; write {key}: float = ..."
    return f"unknown key; {remedy}"


def writing_problem(part: Any) -> str | None:
    """The reason why a user's part cannot be written down and so cannot be distinguished from others."""
    if type(part).__module__.partition(".")[0] == HOUSE:
        return None
    for f in fields(part):
        try:
            json.dumps(to_tree(getattr(part, f.name)))
        except TypeError:
            held = type(getattr(part, f.name)).__name__
            return f"{place_of(part)}: {type(part).__name__}.{f.name} holds a {held}; use {PLAIN}"
    return None


def check_user_parts(annotation: Any, value: Any, slots: PartKinds, path: str) -> Iterator[tuple[str, str]]:
    """What is wrong with the parts of a value that somebody put together in Python, by the path of each."""
    family = next((member for member in (annotation, *get_args(annotation)) if member in slots), None)
    if isinstance(value, tuple):
        for i, part in enumerate(value):
            yield from check_user_parts(get_args(annotation)[0], part, slots, f"{path}.{i}")
        return
    if family is not None and value is not None and type(value) not in slots[family].kinds.values():
        problem = class_problem(type(value), family, slots) or writing_problem(value)
        if problem:
            yield path, problem
            return
    if is_dataclass(value) and not isinstance(value, type):
        hints = type_hints(type(value))
        for f in fields(value):
            yield from check_user_parts(hints[f.name], getattr(value, f.name), slots, f"{path}.{f.name}")
