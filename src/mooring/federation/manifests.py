"""What a signed head says, as a record: all of it, and nothing that this version would pass over."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar
from unicodedata import category

from mooring.errors import FederationError, StoreError
from mooring.record import as_record, as_tree
from mooring.uploads.codec import ascii_repr

T = TypeVar("T")
PACKAGE = re.compile(r"[a-z][a-z0-9._-]{0,63}", re.ASCII)
VERSION = re.compile(r"unknown|[0-9][\w.+!-]{0,63}", re.ASCII)
MOST_VERSIONS = 32


def manifest_as(kind: type[T], tree: object, what: str, remedy: str) -> T:
    """The record. Unknown keys are rejected, because a key that is ignored may be the one that was signed for.

    A key `keY` in the place of `key` would leave a site without the key that was named for it.
    """
    try:
        record = as_record(kind, tree, Path(what), remedy)
    except StoreError as error:
        raise FederationError(error.problem, error.remedy) from None
    unknown = passed_over(tree, as_tree(record))
    if unknown is not None:
        raise FederationError(f"{what}: {ascii_repr(unknown)} is nothing that this version knows", remedy)
    return record


def passed_over(tree: object, read: object, path: str = "") -> str | None:
    """The first key of a tree that is not in what was read of it."""
    if isinstance(tree, dict) and isinstance(read, dict):
        for key, part in tree.items():
            where = f"{path}.{key}" if path else key
            found = where if key not in read else passed_over(part, read[key], where)
            if found is not None:
                return found
    if isinstance(tree, list) and isinstance(read, list):
        for part, seen in zip(tree, read, strict=True):
            found = passed_over(part, seen, path)
            if found is not None:
                return found
    return None


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
