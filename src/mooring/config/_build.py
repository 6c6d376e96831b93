"""From configuration trees to frozen values, with the parts that users write themselves."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from mooring.config._tree import read_file
from mooring.config._trust import HOUSE_CODE, Trust
from mooring.config._user_parts import own_class, unknown_key, writing_problem
from mooring.errors import ConfigError
from mooring.schema import Builder, PartKind, PartKinds, nearest_neighbour

T = TypeVar("T")
Suggest = Callable[[str, Any, list[str]], str]  # path, value, known keys -> remedy


def builder_of(kinds: PartKinds, trust: Trust, suggest: Suggest = nearest_neighbour) -> Builder:
    """A builder that finds the classes of users whose code is trusted."""
    return Builder(kinds, suggest, partial(own_class, kinds=kinds, trust=trust), writing_problem, unknown_key)


def load_value(cls: type[T], file: Path, families: Mapping[type, Mapping[str, type]]) -> T:
    """The dataclass `cls` that the file describes; members of `families` are named by their `kind`."""
    builder = builder_of({family: PartKind("kind", kinds) for family, kinds in families.items()}, HOUSE_CODE)
    value: T = builder.build(cls, read_file(file))
    if builder.problems:
        raise ConfigError(dict.fromkeys(f"{file.name}: {problem.message}" for problem in builder.problems))
    return value
