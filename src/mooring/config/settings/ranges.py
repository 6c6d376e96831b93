"""What a field may hold, in a few words, from its annotation: `above 0`, `0 to 1`, `auto, cpu, cuda`."""

import re
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt

from mooring.client.recipe import When
from mooring.config.part_kinds import PART_KINDS
from mooring.types import OnDisk

PLAIN: dict[Any, str] = {
    bool: "true, false",
    int: "a whole number",
    float: "a number",
    str: "text",
    NoneType: "null",
}
NAMES = {When: "time"}  # of families whose class is called otherwise
WORDS: dict[type, str] = {Gt: "above", Ge: "from", Le: "to", Lt: "below"}


def range_of(annotation: Any) -> str:
    """The range in words; for a part it is the name of its family, whose kinds are listed elsewhere."""
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return a_path(members[1:]) or between(members[0], members[1:])
    if origin in (Union, UnionType):
        ranges = [range_of(member) for member in members if member is not NoneType]
        return ", or ".join([*ranges, *(["null"] if NoneType in members else [])])
    if origin is Literal:
        return ", ".join(map(str, members))
    if origin is tuple:
        return "a list of names" if members[0] is str else f"a list, each {range_of(members[0])}"
    if origin is dict:
        return "a mapping"
    if annotation in PART_KINDS:
        name = NAMES.get(annotation) or class_name_words(annotation.__name__)
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    return "its keys" if is_dataclass(annotation) else PLAIN[annotation]


def a_path(bounds: Sequence[Any]) -> str:
    return "a path" if any(isinstance(bound, OnDisk) for bound in bounds) else ""


def between(number: type, bounds: Sequence[Any]) -> str:
    """`above 0, below 1`; whole numbers by their ends: `1 to 64`, `1 or more`."""
    ends: dict[type, float] = {type(bound): end for bound in bounds for end in asdict(bound).values()}
    low, high = ends.get(Ge), ends.get(Le)
    if number is int:
        low = ends[Gt] + 1 if Gt in ends else low
        high = ends[Lt] - 1 if Lt in ends else high
    if low is not None and high is not None:
        return f"{plain_number(low)} to {plain_number(high)}"
    if low is not None and len(ends) == 1:
        return f"{plain_number(low)} or more"
    return ", ".join(f"{WORDS[kind]} {plain_number(end)}" for kind, end in ends.items())


def class_name_words(name: str) -> str:
    """LossTerm -> loss term"""
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", name).lower()


def plain_number(number: float) -> str:
    """1000000 and 0.5"""
    return str(int(number)) if number == int(number) else f"{number:g}"
