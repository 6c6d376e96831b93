"""Keys of a configuration: short names for parts that are often changed, and `key=value` words."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from mooring.config._features import map_tree
from mooring.config._note_words import METHOD_NOTE_WORDS, NOTE_WORDS
from mooring.config._tree import DEEPEST, merge_trees, nested_tree, read_yaml
from mooring.errors import ConfigError
from mooring.schema import Tree, shorten

SHORT = {  # top-level names for parts of the method that are often changed, broad before narrow
    "fusion": ("fusion",),
    "clip": ("client", "clip"),
    "align": ("client", "align"),
    "weight": ("client", "align", "weight"),
    "sigma": ("client", "align", "weight", "sigma"),
    "bank": ("bank",),
}
SHORT_SETTINGS = {  # short names for settings that are often changed
    "rounds": "training.rounds",
    "lr": "training.lr",
    "batch_size": "training.batch_size",
    "clients": "partition.clients",
    "root": "data.root",
    "limit": "data.limit",
    "workers": "engine.workers",
    "device": "engine.device",
}
RENAMED = SHORT_SETTINGS | {word: said.keys[0] for word, said in NOTE_WORDS.items() if word not in METHOD_NOTE_WORDS}
ENCODER, FEATURE_MAP = "encoder", "fusion.map"  # the first is the second, and may also be a name or a file
BROAD = [  # those that lie within no other one: each place of a method has one spelling with them
    name for name, path in SHORT.items() if not any(path[:depth] in SHORT.values() for depth in range(len(path)))
]
PATH = re.compile(
    r"out|data(\.public)*\.root|partition\.path|method\.fusion(\.\w+)*\.map(\.\w+)*\.path"
)  # keys that name a file
REMEMBERED = 4096  # keys whose full names are not worked out again: every layer of a configuration asks for them


@lru_cache(REMEMBERED)
def full_key(key: str) -> str:
    """`weight.base.value` -> `method.client.align.weight.base.value`"""
    first, *rest = expand_encoder(RENAMED.get(key, key)).split(".")
    return ".".join(["method", *SHORT[first], *rest] if first in SHORT else [first, *rest])


def meanings(key: str) -> tuple[str, ...]:
    """The full name of a key, or those that a word of the notes decides."""
    return (*NOTE_WORDS[key].keys, *NOTE_WORDS[key].scales) if key in NOTE_WORDS else (full_key(key),)


def may_mean_same(one: str, other: str) -> bool:
    """May both keys mean the same?"""
    return not set(meanings(one)).isdisjoint(meanings(other))


def expand_encoder(key: str) -> str:
    """`encoder.pixels` -> `fusion.map.pixels`"""
    first, dot, rest = key.partition(".")
    return f"{FEATURE_MAP}{dot}{rest}" if first == ENCODER else key


@lru_cache(REMEMBERED)
def short_spellings(key: str) -> dict[str, str]:
    """The key as each short name says it that can."""
    path = full_key(key).split(".")
    beginnings = {name: ["method", *place] for name, place in SHORT.items()}
    return {
        name: ".".join([name, *path[len(begin) :]]) for name, begin in beginnings.items() if path[: len(begin)] == begin
    }


def names_of(key: str) -> tuple[str, ...]:
    """Its full name, and every shorter one."""
    return (full_key(key), *short_spellings(key).values())


def short_key(key: str) -> str:
    """`method.client.align.weight.base.value` -> `weight.base.value`"""
    return min(names_of(key), key=len)


def shortest(key: str) -> str:
    """The same, or the word of the notes that stands for this key alone."""
    words = [word for word, said in NOTE_WORDS.items() if said.keys == (full_key(key),)]
    return min([short_key(key), *words], key=len)


def method_path(key: str) -> str:
    """`sigma.lr`, `weight.sigma.lr` and `method.client.align.weight.sigma.lr` -> `align.weight.sigma.lr`"""
    return next((spelled for name, spelled in short_spellings(key).items() if name in BROAD), full_key(key))


def normalise(tree: Tree) -> Tree:
    """A layer of configuration with one spelling for each place: what lies on top of it can be laid exactly there.

    Words of the notes keep their name until the method is known.
    """
    twice = [
        (word, key)
        for word in (*SHORT_SETTINGS, *NOTE_WORDS)
        if word in tree
        for key in meanings(word)
        if given(tree, key)
    ]
    if twice:
        raise ConfigError(
            f"{word} and {short_key(key)}: give the same key twice; keep one of them" for word, key in twice
        )
    if ENCODER in tree:
        others = {key: value for key, value in tree.items() if key != ENCODER}
        tree = merge_trees(others, encoder_layer(tree[ENCODER]))
    rest = {key: value for key, value in tree.items() if key not in (*SHORT, *RENAMED)}
    if isinstance(rest.get("method"), list):
        rest["method"] = {"name": rest["method"]}
    for key in (*SHORT, *RENAMED):
        if key in tree:
            rest = merge_trees(rest, nested_tree(method_path(key).split("."), tree[key]))
    return rest


def encoder_layer(value: Any) -> Tree:
    """What `encoder: VALUE` says, in the words of the fusion."""
    return nested_tree(FEATURE_MAP.split("."), map_tree(value))


def given(tree: Tree, key: str) -> bool:
    """Does a layer say this key, in whatever spelling?"""
    return any(reached(tree, name.split(".")) for name in names_of(key))


def reached(tree: Any, path: list[str]) -> bool:
    return not path or (isinstance(tree, dict) and path[0] in tree and reached(tree[path[0]], path[1:]))


def without_key(tree: Any, path: list[str]) -> Any:
    """The layer without this key."""
    if not (isinstance(tree, dict) and path[0] in tree):
        return tree
    rest = {key: value for key, value in tree.items() if key != path[0]}
    return {**tree, path[0]: without_key(tree[path[0]], path[1:])} if path[1:] else rest


def merge_layers(under: Tree, over: Tree) -> Tree:
    """One settled layer on top of another: the upper one counts, whether it has the words of the notes or ours."""
    for word in METHOD_NOTE_WORDS:
        if word in over:
            for name in every_name(word):
                under = without_key(under, name.split("."))
        elif any(given(over, key) for key in NOTE_WORDS[word].keys):
            under = without_key(under, [word])
    merged: Tree = merge_trees(under, over)
    return merged


@cache
def every_name(word: str) -> tuple[str, ...]:
    """How else a word of the notes can be said."""
    return tuple(name for key in meanings(word) for name in names_of(key))


def read_overrides(words: Iterable[str]) -> Tree:
    """`a.b=1 c=x` -> {a: {b: 1}, c: x}; a later word lies on top of an earlier one."""
    tree: Tree = {}
    problems = []
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not all(key.split(".")):
            problems.append(f"{word!r}: is neither a file nor an override; write key=value, for example seed=3")
            continue
        tree = merge_layers(tree, tree_of_key(key, override_value(key, text)))
    if problems:
        raise ConfigError(problems)
    return tree


def override_value(key: str, text: str) -> Any:
    """What a word of the command line gives to its key: YAML, or the very path where a path is wanted."""
    if not PATH.fullmatch(full_key(key)):
        return read_yaml(text, key)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ConfigError([f"{key}: is not UTF-8 text; rename the folder or the file"]) from None
    return None if text in ("", "null") else text


def tree_of_key(key: str, value: Any) -> Tree:
    """One key as a layer of its own."""
    if key.count(".") >= DEEPEST:
        raise ConfigError([f"{key[:40]}...: has more than {DEEPEST} parts; name an existing key, for example seed"])
    if key == ENCODER:
        return encoder_layer(value)
    return normalise(nested_tree(method_path(key).split("."), value))


def reject_duplicates(words: Iterable[str]) -> list[str]:
    """The words of one command; a key that two of them give, in whatever spelling, is a mistake."""
    words = list(words)
    problems, before = [], list[str]()
    for word in words:
        key = word.partition("=")[0]
        for other in [other for other in before if may_mean_same(key, other.partition("=")[0])][:1]:
            problems.append(f"{other} and {word}: give the same key twice; keep one of them")
        before.append(word)
    if problems:
        raise ConfigError(problems)
    return words


def read_settings(settings: Mapping[str, Any]) -> Tree:
    """{"weight.value": 3, "seed": 1} as one layer, for settings that are values already; no key may be given twice."""
    reject_duplicates(f"{key}={shorten(value)}" for key, value in settings.items())
    tree: Tree = {}
    for key, value in settings.items():
        tree = merge_layers(tree, tree_of_key(key, value))
    return tree
