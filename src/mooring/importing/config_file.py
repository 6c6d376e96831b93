"""A YAML file of the published code as one of ours: what every line becomes, or why it is dropped."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from mooring.config import HOUSE_CODE, as_yaml, parse
from mooring.config.bounded_yaml import BoundedLoader
from mooring.config.experiment import DEFAULT_METHOD
from mooring.config.keys import layer
from mooring.config.tree import Tree, merge, read_file
from mooring.errors import ConfigError, nearest
from mooring.importing.translation import Fate, fates, leaves, method_keys
from mooring.methods import METHODS

ALGORITHM = "algorithm"  # the published code takes it from its command line; some files say it too
NAMES = {  # --algo of the published code -> the formula that it ran, and what else it may have been
    "oursv4": ("v4", ""),
    "oursv6": ("v6", "the V6 of note 1; a later V6 of the published code pulls to random anchors"),
    "oursv7": ("v7", ""),
    "oursv9": ("v9", ""),
    "oursv10": ("v10", ""),
    "oursv11": ("v11-linear", "--annealing_strategy is not in the file; with cosine it is v11-cosine"),
    "oursv12": ("v12-as-run", ""),
    "oursv13": ("v13", "the V13 of December 2025; before, it was v13-gamma"),
    "oursv14": ("v14", "the V14 of January 2026; in November 2025 it was v14-november"),
    "fedavg": ("fedavg-1", ""),
    "ensemble": ("ensemble", ""),
    "otfusion": ("otfusion", ""),
    "fedproto": ("fedproto", ""),
    "fedetf": ("fedetf", ""),
}
STARTING = ("v11-linear", "v11-cosine", "v12", "v12-design", "v12-gamma")  # ran from V9's lambda, and start at 1 here
FIRST = ("data.source", "partition.kind", "model.kind")  # what other settings belong to


@dataclass(frozen=True)
class TranslatedLine:
    """One setting of the old file: mapped to `key`, or dropped."""

    line: int | None  # None: not in the file
    path: str
    value: object
    key: str | None
    setting: object
    why: str

    @property
    def text(self) -> str:
        """`server.lr: 0.05 -> training.lr: 0.05`"""
        where = "not in the file" if self.line is None else f"line {self.line}"
        became = "dropped" if self.key is None else f"-> {self.key}: {json.dumps(self.setting)}"
        old = self.path if self.line is None else f"{self.path}: {json.dumps(self.value, default=str)}"
        return f"{where}  {old}  {became}{f' ({self.why})' if self.why else ''}"


@dataclass(frozen=True)
class Translation:
    """An experiment that loads, and how it came about."""

    file: Path
    tree: Tree
    lines: tuple[TranslatedLine, ...]

    @property
    def mapped(self) -> int:
        return sum(line.key is not None for line in self.lines)

    @property
    def text(self) -> str:
        head = f"# Translated from {self.file.name}: {self.mapped} of {len(self.lines)} settings have a place here.\n"
        return head + as_yaml(self.tree)


def translate(file: Path, method: str | None = None) -> Translation:
    """Setting by setting: whatever would not load is dropped, with the reason."""
    config = read_file(file)
    places = dict(line_numbers(file))
    named = config.get(ALGORITHM) if method is None else method
    name, why = method_named(named)
    head = Fate(ALGORITHM if method is None and named is not None else "method", named, "method", name, why)
    tree: Tree = {"method": name}
    done = {head.path: head}
    settings = [fate for fate in [*fates(config), *method_fates(config)] if fate.path not in done]
    for fate in sorted(settings, key=lambda fate: fate.key not in FIRST):
        tree, done[fate.path] = laid(tree, fate, options(fate, name))
    found = sorted(done.values(), key=lambda fate: places.get(fate.path, 0))
    rows = (TranslatedLine(places.get(f.path), f.path, f.value, f.key, f.setting, f.why) for f in found)
    return Translation(file, tree, tuple(rows))


def method_named(named: object) -> tuple[str, str]:
    """Our name of a method, whoever named it."""
    if named is None:
        return DEFAULT_METHOD, "the published code takes its method from the command line; choose with method=..."
    if str(named) in METHODS:
        return str(named), ""
    word = re.sub(r"[^a-z0-9]", "", str(named).lower()).removeprefix("oneshot")
    name, why = NAMES.get(word if word in NAMES else f"ours{word}", (str(named), ""))
    if name not in METHODS:
        raise ConfigError([f"method={named}: {nearest(name, METHODS)}"])
    return name, why


def method_fates(config: Tree) -> Iterator[Fate]:
    """Settings of the method; which key they are depends on the method."""
    return (Fate(path, value, method_keys(path)[0], value) for path, value in leaves(config) if method_keys(path))


def options(fate: Fate, method: str) -> list[tuple[str, object]]:
    """The keys that a setting may be, the likeliest first."""
    if fate.key is None:
        return []
    keys = method_keys(fate.path)
    found = [(key, fate.setting) for key in keys or (fate.key,)]
    if keys and keys[-1] in ENTROPY_START and method in STARTING:
        found.append(("sigma.start", {"kind": "entropy", ENTROPY_START[keys[-1]]: fate.setting}))
    return found


ENTROPY_START = {"sigma.start.minimum": "minimum", "sigma.start.maximum": "maximum"}


def laid(tree: Tree, fate: Fate, keys: list[tuple[str, object]]) -> tuple[Tree, Fate]:
    """The tree with this setting under the first key that loads; without it where none does."""
    problem = fate.why
    for key, value in keys:
        try:
            larger = merge(tree, layer(key, value))
            parse(larger, HOUSE_CODE)
        except ConfigError as error:
            problem = problem or next(iter(error.problems))
        else:
            return larger, replace(fate, key=key, setting=value)
    if method_keys(fate.path):
        problem = f"method {method_of(tree)} has no such setting"
    return tree, replace(fate, key=None, why=problem)


def method_of(tree: Tree) -> object:
    method = tree["method"]
    return method["name"] if isinstance(method, dict) else method


def line_numbers(file: Path) -> Iterator[tuple[str, int]]:
    """path -> the line in which it stands"""
    node = BoundedLoader(file.read_text("utf-8")).get_single_node()
    yield from below(node, "")


def below(node: yaml.Node | None, path: str) -> Iterator[tuple[str, int]]:
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        name = f"{path}.{key.value}" if path else str(key.value)
        yield name, key.start_mark.line + 1
        yield from below(value, name)
