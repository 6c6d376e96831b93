"""The manifests of signed files as records, and checks of their texts."""

import re
from collections.abc import Mapping
from typing import TypeVar
from unicodedata import category

from mooring.errors import FederationError
from mooring.schema import MalformedRecordError, from_tree

T = TypeVar("T")
PACKAGE = re.compile(r"[a-z][a-z0-9._-]{0,63}", re.ASCII)
VERSION = re.compile(r"unknown|[0-9][\w.+!-]{0,63}", re.ASCII)
MOST_VERSIONS = 32


def manifest_as(kind: type[T], tree: object, what: str, remedy: str) -> T:
    """The record that a signed tree describes; unknown keys are rejected, because somebody signed for them."""
    try:
        record: T = from_tree(kind, tree, signed=True)
    except MalformedRecordError as error:
        raise FederationError(f"{what}: {error}", remedy) from None
    return record


def is_hex(value: str, digits: int) -> bool:
    """Lower-case hexadecimal digits, so many of them."""
    return len(value) == digits and not set(value) - set("0123456789abcdef")


def are_versions(versions: Mapping[str, str]) -> bool:
    """Names of packages and their versions, few and short."""
    each = [PACKAGE.fullmatch(name) and VERSION.fullmatch(version) for name, version in versions.items()]
    return len(each) <= MOST_VERSIONS and all(each)


def without_control(text: str) -> bool:
    """One line, of letters that do nothing."""
    return not any(category(letter)[0] == "C" or category(letter) in ("Zl", "Zp") for letter in text)
