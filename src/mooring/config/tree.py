"""Configuration as plain trees: reading YAML, dotted overrides, and merging."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from mooring.errors import ConfigError
from mooring.trees import Tree, kind_of, to_tree

__all__ = ["Tree", "as_yaml", "kind_of", "merge", "named", "nested", "read", "read_file", "to_tree"]
DISCRIMINATORS = ("kind", "source", "name")
INHERITED = "\0inherited"  # keys of a mapping whose kind was changed by a later layer: used where they still fit


class _Loader(yaml.SafeLoader):
    """Safe YAML in which 5e-4 is a number and a key given twice is an error."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


def _mapping(loader: _Loader, node: yaml.MappingNode) -> Tree:
    pairs = [(loader.construct_object(key, True), loader.construct_object(value, True)) for key, value in node.value]
    keys = [key for key, _ in pairs]
    if not all(isinstance(key, str | int | float | bool) for key in keys):
        raise yaml.constructor.ConstructorError(None, None, "a key must be a plain word", node.start_mark)
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise yaml.constructor.ConstructorError(None, None, f"the key {twice!r} is given twice", node.start_mark)
    return dict(pairs)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read(text: str, origin: str) -> Any:
    """The value of a YAML text; `origin` names it in errors."""
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(
            [f"{origin}: not valid YAML{line} ({problem}); check quotes, colons and indentation"]
        ) from None


def read_file(path: Path) -> Tree:
    """A configuration file: one mapping."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read ({error.strerror}); name an existing YAML file"]) from None
    except UnicodeDecodeError:
        raise ConfigError([f"{path}: is not text; name a YAML file"]) from None
    tree = read(text, str(path))
    if tree is None:
        raise ConfigError([f"{path}: is empty; write at least one key, for example method: v7"])
    if not isinstance(tree, dict):
        raise ConfigError([f"{path}: holds a {type(tree).__name__}; an experiment is a mapping of keys"])
    return tree


def as_yaml(tree: Any) -> str:
    """A tree as people read it."""
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=120)


def nested(path: Sequence[str], value: Any) -> Tree:
    """(a, b), 1 -> {a: {b: 1}}"""
    for part in reversed(path):
        value = {part: value}
    return {**value}


def merge(under: Any, over: Any) -> Any:
    """`over` on top of `under`. A name stands for the mapping it begins: `v7` over `{...}` and `{...}` over `v7`."""
    if isinstance(under, dict) and isinstance(over, str):
        over = {"name": over}
    if isinstance(under, str) and isinstance(over, dict):
        under = {"name": under}
    if not (isinstance(under, dict) and isinstance(over, dict)):
        return over
    if named(over) not in (None, named(under)) and named(under) is not None:
        old = {key: value for key, value in under.items() if key not in (*DISCRIMINATORS, INHERITED)}
        return {**over, INHERITED: under.get(INHERITED, {}) | old}
    merged = dict(under)
    for key, value in over.items():
        merged[key] = merge(merged[key], value) if key in merged else value
    return merged


def named(tree: Tree) -> Any:
    """What a mapping says it is, if it says so."""
    return next((tree[key] for key in DISCRIMINATORS if key in tree), None)
