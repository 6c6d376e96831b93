"""Does a user's class have the shape of its family? Asked when it is configured, and not by the first client."""

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints

from mooring.user_code import place_of


def shape_problem(cls: type, family: type, key: str = "kind") -> str | None:
    """What keeps a class from being a part of this family, with its line and a remedy; None if nothing does."""
    return not_frozen(cls) or untyped(cls) or nameless(cls, key) or lacking(cls, family) or uncallable(cls, family)


def not_frozen(cls: Any) -> str | None:
    settings = getattr(cls, "__dataclass_params__", None)
    if settings is not None and settings.frozen:
        return None
    return f"{place_of(cls)}: {cls.__name__} is no frozen dataclass; write @dataclass(frozen=True) above it"


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
        return f"{place_of(cls)}: {cls.__name__} is no {class_words(family)}; write {wanted}"
    given = {f.name for f in fields(cls)}
    missing = [
        f"{name}({', '.join(parameters(member))})" if inspect.isfunction(member) else name
        for name, member in members(family).items()
        if name not in given and (found(cls, name) is None or (found(cls, name) is member and empty(member)))
    ]
    if not missing:
        return None
    return f"{place_of(cls)}: {cls.__name__} is no {class_words(family)}; add {', '.join(missing)}"


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


def class_words(cls: type, between: str = " ") -> str:
    """LossTerm -> loss term"""
    return re.sub("(?<=[a-z])(?=[A-Z])", between, cls.__name__).lower()
