"""What somebody may mean who writes a key that there is not: `device` is `engine.device`, `data.clients` is
`partition.clients`, `weight.max` is `weight.maximum`."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any

from mooring.config._keys import full
from mooring.config._settings import all_keys, keys_ending
from mooring.errors import nearest
from mooring.schema import deepest

SETTINGS = "mooring settings"
MOST_MEANT = 3  # keys that are proposed
LEAST = 3  # letters that begin a word
ALIKE = 0.8  # of the letters of a misspelt word


def suggest_key(path: str, value: Any, neighbours: Iterable[str], method: Any = None) -> str:
    """A remedy: a neighbour that is nearly called so, keys elsewhere by their last segment, or all neighbours.

    `method`, where it is known, is what the key was to change: keys that it has come first.
    """
    near, (*above, key) = sorted(neighbours), path.split(".")
    written, _ = deepest(path, value)
    last = written.rpartition(".")[2]
    close = bool(get_close_matches(key, near, n=1)) or (not above and any(key in name for name in near))
    if above and close:
        return nearest(key, near)
    found = keys_ending(last) or ([] if close else keys_like(last))
    if full(written) in map(full, found):  # it is a key, of another kind than this one
        return nearest(key, near)
    named = closest(written, [one for one in found if has(method, full(one).split(".")[1:])] or found)
    return f"did you mean {' or '.join(named)}?" if named else nearest(key, near, "" if above else SETTINGS)


def has(part: Any, path: list[str]) -> bool:
    """Has a method this key?"""
    if not path:
        return True
    held = {f.name: getattr(part, f.name) for f in fields(part)} if is_dataclass(part) else {}
    return path[0] in held and has(held[path[0]], path[1:])


def keys_like(key: str) -> list[str]:
    """Keys whose last segment begins like this, or is spelled nearly so."""
    last = {name: name.rpartition(".")[2] for name in all_keys()}
    begin = [name for name, segment in last.items() if len(key) >= LEAST and segment.startswith(key)]
    return begin or [name for name, segment in last.items() if get_close_matches(key, [segment], 1, ALIKE)]


def closest(path: str, keys: Iterable[str]) -> list[str]:
    """Those that share most segments with what was written, in the order of the page."""
    written = set(full(path).split(".")[:-1])
    shared = {key: len(written.intersection(full(key).split(".")[:-1])) for key in keys}
    return [key for key, many in shared.items() if many == max(shared.values())][:MOST_MEANT]
