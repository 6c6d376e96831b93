"""From a tree to experiments: short names are expanded, and impossible combinations are reported."""

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from mooring.config._combinations import impossible_combinations, missing_rounds
from mooring.config._experiment import DEFAULT_METHOD, Experiment, absolute, named_method, with_paths
from mooring.config._features import GIVEN, choose_features, same_features
from mooring.config._keys import (
    BROAD,
    SHORT,
    SHORT_SETTINGS,
    full_key,
    merge_layers,
    normalise,
    read_overrides,
    reject_duplicates,
    short_key,
)
from mooring.config._note_words import METHOD_NOTE_WORDS, NOTE_WORDS, belongs
from mooring.config._part_kinds import PART_KINDS, builder_of
from mooring.config._settings import suggest_key
from mooring.config._tree import merge_trees, nested_tree, read_file
from mooring.config._trust import ALL_CODE, HOUSE_CODE, Trust
from mooring.config._user_parts import check_user_parts
from mooring.data import Sites
from mooring.errors import MOST_PROBLEMS, ConfigError, nearest
from mooring.fusion import FUSIONS, Fusion
from mooring.methods import METHODS, Method
from mooring.models import Backbone, DigitsNet, ResNet8, library_tree
from mooring.schema import INHERITED_KEYS, NO_VALUE, Builder, BuildProblem, Tree, type_hints

DEFAULT_MODELS: dict[str, Backbone] = {"digits": DigitsNet()}  # every other source: ResNet8
CUSTOM = "custom"  # the name of a method that is written out as a tree
OWN_METHODS = "methods"  # methods of a file's own: name -> the whole tree of a method
MOST_METHODS = 100  # of one command
DEFAULTS = Experiment()
SEVERAL_SEEDS = re.compile(r"(\d+)(?:(?:-|:|\.\.)(\d+)|(?:,\d+)+)")


def load(file: Path | str | None = None, overrides: Iterable[str] = (), trust: Trust = ALL_CODE) -> list[Experiment]:
    """The experiments of a file and `key=value` overrides on top of it: one for each method they name.

    `trust`: whose code they may name; `HOUSE_CODE` for a file that somebody else may have made.

    >>> from mooring import load
    >>> [experiment.name for experiment in load(overrides=["method=v4,v7", "seed=3"])]
    ['v4', 'v7']
    """
    return parse(
        merge_layers(normalise(read_file(Path(file))) if file else {}, read_overrides(reject_duplicates(overrides))),
        trust,
    )


def parse(tree: Tree, trust: Trust = ALL_CODE, beside: Iterable[str] = ()) -> list[Experiment]:
    """One experiment per method; a key is idle only if no method reads it, nor one `beside` them. All problems at once.

    >>> from mooring import parse
    >>> [experiment] = parse({"method": "v7", "training": {"rounds": 3}})
    >>> experiment.training.rounds
    3
    """
    tree = normalise(tree)
    rest = {key: value for key, value in tree.items() if key not in ("method", OWN_METHODS)}
    own = tree.get(OWN_METHODS) or {}
    methods = [_with_own(method, own) for method in _methods(tree.get("method", DEFAULT_METHOD))]
    if len(methods) > MOST_METHODS:
        raise ConfigError([f"method: names {len(methods):,} methods; at most {MOST_METHODS} run one after the other"])
    twice = {_name(method): None for i, method in enumerate(methods) if method in methods[:i]}
    if twice:
        raise ConfigError(f"method={name}: is given twice; write every method once" for name in twice)
    outcomes = [_build(rest, method, trust) for method in methods]
    unread = [unread_paths(problems) for _, problems in outcomes]
    if any(unread):
        unread += [unread_paths(_build(rest, {"name": name}, trust)[1]) for name in beside]

    def idle(path: str) -> bool:
        """Does every method leave this key unread, by itself or with the whole part it belongs to?"""
        wholes = [path[:end] for end, letter in enumerate(path) if letter == "."]
        return all(not paths.isdisjoint([path, *wholes]) for paths in unread)

    messages = [message for _, problems in outcomes for path, unknown, message in problems if not unknown or idle(path)]
    if messages:
        raise ConfigError(dict.fromkeys(messages))
    return [experiment for experiment, _ in outcomes]


def unread_paths(problems: Iterable[BuildProblem]) -> set[str]:
    return {path for path, unknown, _ in problems if unknown}


def load_fusions(
    names: str, overrides: Iterable[str] = (), trust: Trust = ALL_CODE, own: Fusion | None = None
) -> list[Fusion]:
    """The rules called `names` (`all`, or names with commas), each with the `fusion.` settings given for it.

    `own`: the rule of a run; where the same rule is named, its settings are the defaults.

    >>> from mooring import load_fusions
    >>> [rule.kind for rule in load_fusions("class-expert,iffi")]
    ['class-expert', 'iffi']
    """
    chosen = sorted(FUSIONS) if names == "all" else [name.strip() for name in names.split(",") if name.strip()]
    settings = read_overrides(overrides)
    builder = builder_of(PART_KINDS, trust, suggest_key)
    for key in settings.keys() - {"fusion"}:
        builder.note(key, settings[key], "is not a setting of a fusion; write fusion.KEY=VALUE")
    patch = settings.get("fusion", {})
    if not isinstance(patch, dict):
        builder.note("fusion", patch, f"is not a setting of a fusion; name the rule with --fusion {patch}")
        patch = {}
    bases = {} if own is None else {own.kind: own}
    rules = [builder.build(Fusion, {"kind": name, **patch}, bases.get(name, NO_VALUE), "fusion") for name in chosen]
    if not rules:
        builder.note("fusion", names, f"names no rule; {nearest('', FUSIONS, 'mooring fusions')}")
    if builder.problems:
        raise ConfigError(dict.fromkeys(message for _, _, message in builder.problems))
    return rules


def _methods(given: Any) -> list[Tree]:
    """`v7`, `v4,v7`, a list of both, or a tree: as trees. A mapping with several names is several trees."""
    if isinstance(given, list) and given:
        return [method for part in given for method in _methods(part)]
    if isinstance(given, dict):
        names = _methods(given["name"]) if isinstance(given.get("name"), str | list) else [{}]
        rest = {key: value for key, value in given.items() if key != "name" or not isinstance(value, str | list)}
        return [merge_trees(name, rest) for name in names]
    if not isinstance(given, str) or not given.strip(", "):
        shown = "" if given is None else given
        raise ConfigError(
            [f"method={shown}: must be a name, a list of names or a tree; {nearest('', METHODS, 'mooring methods')}"]
        )
    return [{"name": name.strip()} for name in given.split(",") if name.strip()]


def _with_own(method: Tree, own: Any) -> Tree:
    """The tree of a method that the configuration itself defines, under its name; any other as it is."""
    if not isinstance(own, dict) or method.get("name") not in own:
        return method
    merged: Tree = merge_trees(own[method["name"]], {key: value for key, value in method.items() if key != "name"})
    return merged | {"name": method["name"]}


def _build(rest: Tree, method: Tree, trust: Trust) -> tuple[Experiment, list[BuildProblem]]:
    """One experiment and what is wrong with it."""
    builder = builder_of(PART_KINDS, trust, suggest_key)
    known = [f.name for f in fields(Experiment) if f.name != "name"] + [*SHORT, *SHORT_SETTINGS, *NOTE_WORDS]
    for i, key in enumerate(key for key in rest if key not in known):
        remedy = f"; {suggest_key(str(key), rest[key], known)}" if i < MOST_PROBLEMS else ""
        builder.note(str(key), rest[key], f"unknown key{remedy}")
    for key in BROAD:
        if key in rest:
            method = merge_trees(method, nested_tree(SHORT[key], rest[key]))
    name, built, hints, choice = _name(method), dict[str, Any](), type_hints(Experiment), None
    first, builder.problems = builder.problems, []
    if seeds := several_seeds(rest.get("seed")):
        builder.note("seed", rest["seed"], f"must be a whole number; several are a sweep: mooring sweep seed={seeds}")
        rest = {key: value for key, value in rest.items() if key != "seed"}
    for key in ("data", "partition", "training", "engine", "seed", "evaluate", "out", "given"):
        built[key] = builder.build(hints[key], rest.get(key, NO_VALUE), getattr(DEFAULTS, key), key)
    if "partition" not in rest and built["data"] is not NO_VALUE and built["data"].has_sites():
        built["partition"] = Sites()  # who has sites means them, and not clients that are made up
    built["why"] = builder.build(str, rest.get("why", NO_VALUE), "", "why")
    last, builder.problems = builder.problems, first  # problems of the method are reported before the rest
    try:
        base: Any = NO_VALUE if name == CUSTOM or _is_own(name, method) else named_method(name, trust)
        choice = None if NO_VALUE in (base, built["data"]) else choose_features(base, built["data"])
        base = base if choice is None else choice.method
        for path, problem in check_user_parts(Method, base, PART_KINDS, "method"):
            builder.note(path, NO_VALUE, problem)
        parts = {key: value for key, value in method.items() if key not in ("name", INHERITED_KEYS)}
        words = {word: rest[word] for word in METHOD_NOTE_WORDS if word in rest}
        builder.suggest = partial(suggest_key, method=base)
        built["method"] = builder.build(Method, _in_our_words(words, parts, base, builder, trust), base, "method")
    except ConfigError as error:
        builder.problems += [BuildProblem("method", False, problem) for problem in error.problems]
    builder.problems += last
    if choice is not None and built.get("method", NO_VALUE) is not NO_VALUE and not built["why"]:
        built["why"] = choice.why if same_features(built["method"], choice.method) else GIVEN
    usual = DEFAULT_MODELS.get("" if built["data"] is NO_VALUE else built["data"].source, ResNet8())
    built["model"] = builder.build(Backbone, library_tree(rest.get("model", NO_VALUE)), usual, "model")
    if built.get("method", NO_VALUE) is not NO_VALUE:
        builder.problems += [
            BuildProblem("method", False, message) for message in impossible_combinations(built["method"])
        ]
    if built["training"] is not NO_VALUE:
        builder.problems += [
            BuildProblem("training.snapshots", False, message) for message in missing_rounds(built["training"])
        ]
    if builder.failed():
        return DEFAULTS, builder.problems
    return Experiment(**built, name=name).located(), builder.problems


def several_seeds(value: Any) -> str:
    """`1-3` -> `1..3`, as a sweep takes them; empty if the value is something else."""
    found = SEVERAL_SEEDS.fullmatch(value) if isinstance(value, str) else None
    return "" if found is None else value if "," in value else f"{found[1]}..{found[2]}"


def _in_our_words(words: Tree, parts: Tree, base: Any, builder: Builder, trust: Trust) -> Tree:
    """The tree of a method with what the words of the notes say of it, each at the keys that this method has."""
    if not words:
        return parts
    method = builder_of(PART_KINDS, trust, suggest_key).build(Method, parts, base, "method")
    if method is NO_VALUE:
        return parts  # its problems are reported anyway
    for word, value in words.items():
        keys = NOTE_WORDS[word].keys_of(method)
        if not keys:
            builder.note(word, value, f"this method has no such key; it belongs to {', '.join(belongs(word))}", True)
        elif NOTE_WORDS[word].meant == "one" and len(keys) > 1:
            builder.note(word, value, f"may mean {' or '.join(map(short_key, keys))} of this method; write which")
        else:
            for key, chosen in {**dict.fromkeys(keys, value), **NOTE_WORDS[word].scales_of(method)}.items():
                parts = merge_trees(parts, nested_tree(key.split(".")[1:], chosen))
    return parts


def _is_own(name: str, method: Tree) -> bool:
    """Is it a whole method under a name of its own? Names of code are imported, if that is allowed."""
    return name not in METHODS and ":" not in name and {f.name for f in fields(Method) if f.compare} <= method.keys()


def _name(method: Tree) -> str:
    """A tree without a name changes the default method, unless it says by itself what a client minimises."""
    return str(method.get("name", CUSTOM if _written_out(method) else DEFAULT_METHOD))


def _written_out(method: Tree) -> bool:
    client = method.get("client")
    return isinstance(client, dict) and isinstance(client.get("terms"), list)


def load_recorded(file: Path, trust: Trust = HOUSE_CODE) -> Experiment:
    """The one experiment in the file of a run folder, which anybody may have made."""
    experiments = load(file, trust=trust)
    if len(experiments) > 1:
        raise ConfigError([f"{file}: names {len(experiments)} methods; a run has one, name the folder of a run"])
    return experiments[0]


def load_experiment_of_run(folder: Path, overrides: Iterable[str] = (), trust: Trust = HOUSE_CODE) -> Experiment:
    """The experiment in this folder; `data.root=...` says where its files lie now. All else is as it was trained."""
    experiment = load_recorded(folder / "experiment.yaml", trust)
    words = reject_duplicates(overrides)
    read_overrides(words)  # rejects words that are not key=value
    lay: dict[str, str | None] = {}  # key -> where the file lay
    with_paths(experiment, lay.setdefault)
    new, problems = {}, []
    for word in words:
        key, _, place = word.partition("=")
        if full_key(key) not in lay:
            problems.append(f"{word}: cannot be changed after training; only paths can: {', '.join(lay)}")
        elif not place:
            problems.append(f"{word}: must be a path")
        else:
            new[full_key(key)] = absolute(place)
    if problems:
        raise ConfigError(problems)
    written = {path: experiment.given.get(lay[key] or "", lay[key]) for key, path in new.items()}
    moved = with_paths(experiment, new.get)
    return replace(moved, given=experiment.given | written)
