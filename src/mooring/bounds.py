"""What a field may hold, checked wherever a value is made: in Python as from YAML.

A field's annotation is its contract: plain types, `Annotated` with bounds, `Literal`, and unions, tuples and dicts
of these. Whatever else it names (a family of parts, a tensor) is not looked into; a dataclass inside checks itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from math import inf
from operator import ge, gt, le, lt
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt

from mooring.errors import ConfigError

Rule = Callable[[Any], str | None]  # a value -> what it must be instead, None where it is fine
SHOWN = 60  # characters of a value
LIMITS: dict[type, tuple[str, Callable[[Any, Any], bool], str]] = {
    Gt: ("gt", gt, "greater than"),
    Ge: ("ge", ge, "greater than or equal to"),
    Lt: ("lt", lt, "less than"),
    Le: ("le", le, "less than or equal to"),
}


class Checked(Protocol):
    """A frozen dataclass that rejects what the annotations of its fields do not allow.

    A protocol, so that protocols may build on it.
    """

    def __post_init__(self) -> None:
        values = {name: getattr(self, name) for name in rules_of(type(self))}
        problems = {name: reason for name, rule in rules_of(type(self)).items() if (reason := rule(values[name]))}
        if not problems and (reason := crossed(values)):
            problems = {"minimum": reason}
        if problems:
            where = type(self).__name__
            raise ConfigError(
                f"{where}.{name}={short_repr(values[name])}: {problem}" for name, problem in problems.items()
            )


def crossed(values: Mapping[str, object], where: str = "") -> str | None:
    """What is wrong with a `minimum` above its `maximum`."""
    low, high = values.get("minimum"), values.get("maximum")
    if isinstance(low, float | int) and isinstance(high, float | int) and low > high:
        return f"is above {where}maximum={high}; swap them"
    return None


@cache
def rules_of(cls: type) -> dict[str, Rule]:
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: rule_of(hints[field.name]) for field in fields(cls)}


def rule_of(annotation: Any) -> Rule:
    """The rule that an annotation states."""
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return all_of(rule_of(members[0]), *(limit(bound) for bound in members[1:] if type(bound) in LIMITS))
    if origin in (Union, UnionType):
        return any_of(*map(rule_of, members))
    if origin is Literal:
        return one_of(members)
    if origin is tuple:
        return tuple_of(members)
    if origin is dict:
        return dict_of(*map(rule_of, members))
    if isinstance(annotation, type) and is_dataclass(annotation):
        return instance_of(annotation, f"a {annotation.__name__}")
    return PLAIN.get(annotation, anything)


def anything(value: Any) -> None:
    return None


def instance_of(wanted: type, name: str) -> Rule:
    return lambda value: None if isinstance(value, wanted) else f"must be {name}"


def must_be_int(value: Any) -> str | None:
    return None if isinstance(value, int) and not isinstance(value, bool) else "must be a whole number (int)"


def must_be_number(value: Any) -> str | None:
    if not isinstance(value, float) and must_be_int(value):
        return "must be a number (float)"
    return None if -inf < value < inf else "must be a finite number"


def limit(bound: Any) -> Rule:
    name, holds, words = LIMITS[type(bound)]
    end = getattr(bound, name)
    return lambda value: None if holds(value, end) else f"must be {words} {end}"


def one_of(choices: tuple[Any, ...]) -> Rule:
    *most, last = map(repr, choices)
    message = f"must be {', '.join(most)} or {last}" if most else f"must be {last}"
    return lambda value: None if any(value == choice and type(value) is type(choice) for choice in choices) else message


def all_of(*rules: Rule) -> Rule:
    """The first complaint counts."""
    return lambda value: next((reason for rule in rules if (reason := rule(value))), None)


def any_of(*rules: Rule) -> Rule:
    def rule(value: Any) -> str | None:
        reasons = [rule(value) for rule in rules]
        return None if None in reasons else "; or ".join(dict.fromkeys(filter(None, reasons)))

    return rule


def tuple_of(members: tuple[Any, ...]) -> Rule:
    """Of any length where the second member is an ellipsis, else one value for each member."""
    rules = tuple(rule_of(member) for member in members if member is not Ellipsis)

    def rule(value: Any) -> str | None:
        if not isinstance(value, tuple):
            return "must be a tuple"
        each = rules if Ellipsis not in members else rules * len(value)
        if len(each) != len(value):
            return f"must hold {len(each)} values"
        return next((reason for rule, part in zip(each, value, strict=True) if (reason := rule(part))), None)

    return rule


def dict_of(key_rule: Rule, part_rule: Rule) -> Rule:
    def rule(value: Any) -> str | None:
        if not isinstance(value, dict):
            return "must be a dict"
        reasons = (key_rule(key) or part_rule(part) for key, part in value.items())
        return next(filter(None, reasons), None)

    return rule


def short_repr(value: object) -> str:
    """A value in one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


PLAIN: dict[Any, Rule] = {
    int: must_be_int,
    float: must_be_number,
    bool: instance_of(bool, "True or False"),
    str: instance_of(str, "text (str)"),
    NoneType: instance_of(NoneType, "None"),
}
