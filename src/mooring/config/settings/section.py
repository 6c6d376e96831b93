"""Tables of settings: keys that are always there, and keys that come with a choice."""

from collections.abc import Mapping
from dataclasses import dataclass

EVERY = "every"  # kind of a family


@dataclass(frozen=True)
class ExtraKey:
    """A key that is no field of a value, or whose default is no value."""

    key: str
    range: str
    default: str
    meaning: str


@dataclass(frozen=True)
class OfRecord:
    """Keys of one frozen value: field -> sentence."""

    name: str
    prefix: str  # what stands before the key and a dot
    record: type
    sentences: Mapping[str, str]
    given: tuple[ExtraKey, ...] = ()


@dataclass(frozen=True)
class OfKinds:
    """Keys of a family of parts: kinds with commas -> field -> sentence."""

    name: str
    prefix: str  # with KIND where a part is reached by its kind
    family: type
    sentences: Mapping[str, Mapping[str, str]]


SettingsSection = OfRecord | OfKinds
