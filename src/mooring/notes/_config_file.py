"""Translate a YAML file of the published code into Mooring's keys, line by line."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mooring.config import (
    HOUSE_CODE,
    as_yaml,
    line_numbers,
    merge_trees,
    override_value,
    parse,
    read_file,
    tree_of_key,
)
from mooring.data import PARTITIONERS, SOURCES, Dirichlet
from mooring.errors import ConfigError, nearest
from mooring.methods import METHODS
from mooring.models import BACKBONES
from mooring.notes._translation import KeyMapping, key_mappings, leaves, method_settings, method_word
from mooring.schema import Tree, type_hints

ALGORITHM = "algorithm"  # the published code takes it from its command line; some files say it too
NAMES = {  # --algo of the published code -> the formula that it ran, and what else it may have been
    "oursv4": ("v4", ""),
    "oursv6": ("v6-as-run", "the V6 of note 1; a later V6 of the published code pulls to random anchors"),
    "oursv7": ("v7", ""),
    "oursv9": ("v9", ""),
    "oursv10": ("v10", ""),
    "oursv11": ("v11-as-run-linear", "--annealing_strategy is not in the file; with cosine it is v11-as-run-cosine"),
    "oursv12": ("v12-as-run", ""),
    "oursv13": ("v13", "the V13 of December 2025; before, it was v13-gamma"),
    "oursv14": ("v14", "the V14 of January 2026; in November 2025 it was v14-november"),
    "fedavg": ("fedavg-1", ""),
    "ensemble": ("ensemble", ""),
    "otfusion": ("otfusion", ""),
    "fedproto": ("fedproto", ""),
    "fedetf": ("fedetf", ""),
}
DEFAULT_METHOD = "v7"  # for a file that names no method: most of the old files are of its family
STARTING = (  # ran from V9's lambda, and start at 1 here
    *("v11-linear", "v11-cosine", "v11-rescaled-linear", "v11-rescaled-cosine", "v11-detached-linear"),
    *("v11-detached-cosine", "v12", "v12-design", "v12-gamma"),
)
FIRST: dict[str, Collection[str]] = {
    "data.source": SOURCES,
    "partition.kind": PARTITIONERS,
    "model.kind": BACKBONES,
}  # others belong to them


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
    """An experiment that loads, and the lines it was translated from."""

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


def translate(file: Path, method: str | None = None, instead: Mapping[str, str] | None = None) -> Translation:
    """Translate setting by setting. A setting that Mooring does not have is dropped, with the reason.

    A setting that Mooring has, with a value that it does not have (an unknown data set, a learning rate below 0), is an
    error: a default in its place would be another experiment. `instead` gives such keys other values.
    """
    config, instead = read_file(file), instead or {}
    places = dict(line_numbers(file.read_text("utf-8")))
    named = config.get(ALGORITHM) if method is None else method
    name, why = method_named(named)
    head = KeyMapping(ALGORITHM if method is None and named is not None else "method", named, "method", name, why)
    tree: Tree = {"method": name}
    for key, text in instead.items():
        tree = merge_trees(tree, tree_of_key(key, override_value(key, text)))
    parse(tree, HOUSE_CODE)
    done, problems = {head.path: head}, list[str]()
    settings = [mapping for mapping in [*key_mappings(config), *method_mappings(config)] if mapping.path not in done]
    for mapping in sorted(settings, key=lambda mapping: mapping.key not in FIRST):
        if mapping.key is not None and mapping.key in instead:
            done[mapping.path] = replace(mapping, key=None, why=f"{mapping.key}={instead[mapping.key]} instead")
            continue
        tree, done[mapping.path] = laid(tree, mapping, choices(mapping, name))
        if done[mapping.path].key is None and has_place(mapping, tree):
            problems.append(
                f"{file.name}: line {places.get(mapping.path)}: {no_such_value(done[mapping.path], mapping)}"
            )
    if problems:
        raise ConfigError(problems)
    found = sorted(done.values(), key=lambda mapping: places.get(mapping.path, 0))
    rows = (TranslatedLine(places.get(f.path), f.path, f.value, f.key, f.setting, f.why) for f in found)
    return Translation(file, tree, tuple(rows))


def no_such_value(failed: KeyMapping, mapping: KeyMapping) -> str:
    if mapping.key in FIRST:
        valid = ", ".join(FIRST[mapping.key])
        return f"{mapping.path}={mapping.value}: unknown; choose with {mapping.key}=..., one of: {valid}"
    return f"{mapping.path}: {failed.why}; choose with {mapping.key}=..."


def has_place(mapping: KeyMapping, tree: Tree) -> bool:
    """Does Mooring have this setting? The published files give the settings of every kind of partition."""
    if mapping.key is None or method_word(mapping.path):
        return False
    part, _, name = mapping.key.partition(".")
    if part != "partition" or name == "kind":
        return True
    kind = tree.get("partition", {}).get("kind", Dirichlet.kind)
    return name in type_hints(PARTITIONERS[kind])


def method_named(named: object) -> tuple[str, str]:
    """The method's name in Mooring."""
    if named is None:
        return DEFAULT_METHOD, "the published code takes its method from the command line; choose with method=..."
    if str(named) in METHODS:
        return str(named), ""
    word = re.sub(r"[^a-z0-9]", "", str(named).lower()).removeprefix("oneshot")
    name, why = NAMES.get(word if word in NAMES else f"ours{word}", (str(named), ""))
    if name not in METHODS:
        raise ConfigError([f"method={named}: {nearest(name, METHODS)}"])
    return name, why


def method_mappings(config: Tree) -> Iterator[KeyMapping]:
    """Settings of the method, whose keys depend on the method."""
    return (KeyMapping(path, value, setting=value) for path, value in leaves(config) if method_word(path))


def choices(mapping: KeyMapping, method: str) -> list[dict[str, object]]:
    """The settings that an old one may stand for, the most likely first."""
    word = method_word(mapping.path)
    if word is None:
        return [{mapping.key: mapping.setting}] if mapping.key else []
    found = method_settings(word, mapping.setting, METHODS[method])
    if word in ENTROPY_START and method in STARTING:
        found.append({"sigma.start": {"kind": "entropy", ENTROPY_START[word]: mapping.setting}})
    return found


ENTROPY_START = {"lambda_min": "minimum", "lambda_max": "maximum"}


def laid(tree: Tree, mapping: KeyMapping, settings: list[dict[str, object]]) -> tuple[Tree, KeyMapping]:
    """The tree with the first of these settings that loads; unchanged if none does."""
    problem = f"method {method_of(tree)} has no such setting" if method_word(mapping.path) else mapping.why
    for setting in settings:
        larger = tree
        try:
            for key, value in setting.items():
                larger = merge_trees(larger, tree_of_key(key, value))
            parse(larger, HOUSE_CODE)
        except ConfigError as error:
            problem = next(iter(error.problems))
        else:
            return larger, replace(mapping, key=", ".join(setting), setting=next(iter(setting.values())))
    return tree, replace(mapping, key=None, why=problem)


def method_of(tree: Tree) -> object:
    method = tree["method"]
    return method["name"] if isinstance(method, dict) else method
