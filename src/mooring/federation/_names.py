"""Names in a federation: of sites, which become names of files, and of classes, which people read."""

import re
from collections.abc import Sequence

from mooring.errors import FederationError
from mooring.uploads import MAX_NAME_LENGTH, ascii_repr, is_printable_line

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
