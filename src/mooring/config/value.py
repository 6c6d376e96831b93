"""One frozen value from a YAML file, for rooms above that have families of their own."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from mooring.config.build import Builder
from mooring.config.slots import NOTHING, Slot
from mooring.config.tree import read_file
from mooring.errors import ConfigError

T = TypeVar("T")


def load_value(cls: type[T], file: Path, families: Mapping[type, Mapping[str, type]]) -> T:
    """The dataclass `cls` that the file describes; members of `families` are named by their `kind`."""
    builder = Builder({family: Slot("kind", kinds) for family, kinds in families.items()})
    value = builder.build(cls, read_file(file), NOTHING, "")
    if builder.problems:
        raise ConfigError(dict.fromkeys(f"{file.name}: {message}" for _, _, message in builder.problems))
    built: T = value
    return built
