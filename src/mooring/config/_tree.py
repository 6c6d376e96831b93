"""Configuration as plain trees: reading YAML, dotted overrides, and merging."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from mooring.config._bounded_yaml import LARGEST_FILE, BeyondBoundsError, parse_bounded
from mooring.errors import ConfigError
from mooring.schema import INHERITED, Tree

DISCRIMINATORS = ("kind", "source", "name")


def read_yaml(text: str, origin: str) -> Any:
    """The value of a YAML text; `origin` names it in errors."""
    try:
        return parse_bounded(text)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        if isinstance(error, BeyondBoundsError):
            raise ConfigError([f"{origin}: {problem}{line}; {error.remedy}"]) from None
        raise ConfigError(
            [f"{origin}: not valid YAML{line} ({problem}); check quotes, colons and indentation"]
        ) from None


def read_file(path: Path) -> Tree:
    """A configuration file: one mapping."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            limit = f"an experiment or a sweep has at most {LARGEST_FILE:,} bytes"
            raise ConfigError([f"{path}: is too large; {limit}, name a smaller file"])
        text = data.decode("utf-8")
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read ({error.strerror}); name an existing YAML file"]) from None
    except UnicodeDecodeError:
        raise ConfigError([f"{path}: is not text; name a YAML file"]) from None
    tree = read_yaml(text, str(path))
    if tree is None:
        raise ConfigError([f"{path}: is empty; write at least one key, for example method: v7"])
    if not isinstance(tree, dict):
        raise ConfigError([f"{path}: holds a {type(tree).__name__}; an experiment is a mapping of keys"])
    return tree


def nested_tree(path: Sequence[str], value: Any) -> Tree:
    """(a, b), 1 -> {a: {b: 1}}"""
    for part in reversed(path):
        value = {part: value}
    return {**value}


def merge_trees(under: Any, over: Any) -> Any:
    """`over` on top of `under`. A name stands for the mapping it begins: `v7` over `{...}` and `{...}` over `v7`."""
    if isinstance(under, dict) and isinstance(over, str):
        over = {"name": over}
    if isinstance(under, str) and isinstance(over, dict):
        under = {"name": under}
    if not (isinstance(under, dict) and isinstance(over, dict)):
        return over
    if discriminator_of(over) not in (None, discriminator_of(under)) and discriminator_of(under) is not None:
        old = {key: value for key, value in under.items() if key not in (*DISCRIMINATORS, INHERITED)}
        return {**over, INHERITED: under.get(INHERITED, {}) | old}
    merged = dict(under)
    for key, value in over.items():
        merged[key] = merge_trees(merged[key], value) if key in merged else value
    return merged


def discriminator_of(tree: Tree) -> Any:
    """What a mapping says it is, if it says so."""
    return next((tree[key] for key in DISCRIMINATORS if key in tree), None)
