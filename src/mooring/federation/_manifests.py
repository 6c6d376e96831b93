"""The manifests of signed files as records, and checks of their texts and of the names of sites and classes."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar
from unicodedata import category

from mooring.errors import FederationError
from mooring.schema import MalformedRecordError, from_tree
from mooring.uploads import MAX_NAME_LENGTH, ascii_repr, is_printable_line

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


SITE = re.compile(r"\w[\w.-]{0,63}")
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # names that Windows keeps for itself
MOST_SITES = 10_000
MOST_CLASSES = 2**16


def check_sites(names: Sequence[str]) -> None:
    """Names that are files in every system, and nobody's twice: not even in other letters."""
    if not 0 < len(names) <= MOST_SITES:
        raise FederationError(f"sites: are {len(names)}", f"name 1 to {MOST_SITES:,} sites, --sites north,south")
    for name in names:
        if not SITE.fullmatch(name) or DEVICES.fullmatch(name) or name.endswith("."):
            raise FederationError(
                f"site {ascii_repr(name)}: is not a valid site name", "use up to 64 letters, digits, '-', '_' and '.'"
            )
    reject_twins("site", names)


def check_classes(names: Sequence[str]) -> None:
    """Names that are one line each, and nobody's twice."""
    if not 2 <= len(names) <= MOST_CLASSES:
        raise FederationError(f"classes: are {len(names)}", "name at least two, --classes cats,dogs")
    for name in names:
        if not name.strip() or name != name.strip() or not is_printable_line(name):
            raise FederationError(
                f"class {ascii_repr(name)}: is not a valid class name",
                f"use one line of at most {MAX_NAME_LENGTH} letters",
            )
    reject_twins("class", names)


def reject_twins(what: str, names: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        twin = seen.setdefault(name.casefold(), name)
        if twin is not name:
            raise FederationError(f"{what} {ascii_repr(name)}: is given twice", "give every name once")
