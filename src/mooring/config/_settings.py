"""Every setting: key, default, range and one sentence, all taken from the fields of the frozen values; and suggestions
for unknown keys: `device` is `engine.device`, `data.clients` is `partition.clients`, `weight.max` is `weight.maximum`.

`mooring settings` and docs/configuration.md show the same rows. A new key is a new field with a `Doc`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from mooring.anchors import Anchor
from mooring.client import Alignment, Bank, ClientRecipe, Engine, Stage, StageTime, Training, Views
from mooring.config._experiment import DEFAULT_METHOD, ClientEvaluation, Experiment
from mooring.config._keys import SHORT, SHORT_SETTINGS, full_key
from mooring.config._note_words import NOTE_WORDS, has
from mooring.config._part_kinds import PART_KINDS
from mooring.data import Augment, Partitioner, Source
from mooring.errors import nearest
from mooring.fusion import Fusion, Solver, StudentTraining, Synthesis
from mooring.losses import LossTerm
from mooring.methods import Method
from mooring.models import Backbone, FeatureMap, Head
from mooring.schema import NO_VALUE, deepest_key, default_of, kind_of, sentence_of, shapes_of
from mooring.uploads import Privacy
from mooring.weighting import Guard, Sigma, Start, Weighting

SEE_BELOW = "see below"  # the default of a part with keys of its own
METHOD_DEFAULT = "the method's"  # the default of a short key
LINK = re.compile(r" ?\(\[[^]]*\]\([^)]*\)\)|\[([^]]*)\]\([^)]*\)")
SETTINGS = "mooring settings"
MOST_SUGGESTED = 3  # keys that are proposed
LEAST = 3  # letters that begin a word
ALIKE = 0.8  # of the letters of a misspelt word
MEANT = {"epochs": "training.local_epochs"}  # what people mean by a word that ends other keys too


@dataclass(frozen=True)
class SettingsSection:
    """A table of the page: the keys of a record, or of all kinds of a family."""

    name: str
    prefix: str  # before the key and a dot, with KIND where a part is reached by its kind
    cls: type

    @property
    def kinds(self) -> dict[str, type]:
        """The kinds of the family; none for a record."""
        return dict(PART_KINDS[self.cls].kinds) if self.cls in PART_KINDS else {}


SECTIONS = (  # in the order of the page
    SettingsSection("top", "", Experiment),
    SettingsSection("data", "data", Source),
    SettingsSection("partition", "partition", Partitioner),
    SettingsSection("model", "model", Backbone),
    SettingsSection("training", "training", Training),
    SettingsSection("evaluate", "evaluate", ClientEvaluation),
    SettingsSection("method", "method", Method),
    SettingsSection("client", "method.client", ClientRecipe),
    SettingsSection("align", "align", Alignment),
    SettingsSection("views", "method.client.views", Views),
    SettingsSection("augment", "method.client.views.augment", Augment),
    SettingsSection("losses", "method.client.terms.KIND", LossTerm),
    SettingsSection("bank", "bank", Bank),
    SettingsSection("stages", "method.client.stages.0", Stage),
    SettingsSection("times", "method.client.stages.0.when", StageTime),
    SettingsSection("heads", "method.client.head", Head),
    SettingsSection("anchors", "align.anchor", Anchor),
    SettingsSection("weightings", "weight", Weighting),
    SettingsSection("sigma", "sigma", Sigma),
    SettingsSection("starts", "sigma.start", Start),
    SettingsSection("guards", "weight.guard", Guard),
    SettingsSection("fusions", "fusion", Fusion),
    SettingsSection("student", "fusion.study", StudentTraining),
    SettingsSection("synthesis", "fusion.synthesis", Synthesis),
    SettingsSection("solvers", "fusion.solver", Solver),
    SettingsSection("privacy", "fusion.privacy", Privacy),
    SettingsSection("feature maps", "fusion.map", FeatureMap),
    SettingsSection("engine", "engine", Engine),
)


@dataclass(frozen=True)
class Setting:
    """One key as it is written; `kinds` are the choices that have it, none where it is always there."""

    section: str
    prefix: str
    name: str
    kinds: tuple[str, ...]
    default: str
    range: str
    meaning: str  # Markdown

    @property
    def keys(self) -> tuple[str, ...]:
        """As they are written on the command line."""
        dotted = f"{self.prefix}.{self.name}" if self.prefix else self.name
        return tuple(dotted.replace("KIND", kind) for kind in self.kinds) if "KIND" in dotted else (dotted,)

    @property
    def sentence(self) -> str:
        """The meaning without Markdown."""
        return LINK.sub(r"\1", self.meaning).replace("`", "").replace(", see below", "")


NO_FIELDS = {  # keys that no field of a record stands for
    "top": (
        Setting("top", "", "method", (), DEFAULT_METHOD, "a name, names with commas, or a tree",
                "what clients do, and how the server fuses"),
        Setting("top", "", "encoder", (), METHOD_DEFAULT, "a feature map",
                "the feature map; short for `method.fusion.map`: `none`, an encoder's name, a file, or "
"keys ([encoders](encoders.md))"),
    ),
    "method": (
        Setting("method", "method", "name", (), "custom", "a name",
                "the method to start from"),
    ),
}  # fmt: skip


@cache
def all_settings() -> tuple[Setting, ...]:
    """In the order of the page."""
    return tuple(setting for section in SECTIONS for setting in settings_in(section))


def settings_in(section: SettingsSection) -> Iterator[Setting]:
    """Keys that several kinds share with the same default, range and sentence are one row."""
    yield from NO_FIELDS.get(section.name, ())
    if section.cls is Experiment:
        yield from map(short_setting, SHORT)
    kinds: dict[tuple[str, str, str, str], list[str]] = {}
    for kind, cls in (section.kinds or {"": section.cls}).items():
        for f in fields(cls):
            if meaning := sentence_of(cls, f.name):
                row = (f.name, default_text(default_of(f)), shapes_of(cls)[f.name].words, meaning)
                kinds.setdefault(row, []).append(kind)
    every = [row for row, these in kinds.items() if 1 < len(these) == len(section.kinds)]  # shown first
    for row in (*every, *(row for row in kinds if row not in every)):
        name, default, words, meaning = row
        shown = tuple(kinds[row]) if section.kinds and row not in every else ()
        yield Setting(section.name, section.prefix, name, shown, default, words, meaning)


def short_setting(name: str) -> Setting:
    """A short key at the top, described by the field of the method that it stands for."""
    *above, last = SHORT[name]
    cls: type = Method
    for segment, following in zip(above, [*above, last][1:], strict=True):
        [inner] = shapes_of(cls)[segment].classes
        options = PART_KINDS[inner].kinds.values() if inner in PART_KINDS else [inner]
        cls = next(option for option in options if following in shapes_of(option))
    meaning = f"{sentence_of(cls, last)}; short for `method.{'.'.join(SHORT[name])}`"
    return Setting("top", "", name, (), METHOD_DEFAULT, shapes_of(cls)[last].words, meaning)


def default_text(value: Any) -> str:
    """As YAML has it."""
    if value is NO_VALUE:
        return "required"
    if is_dataclass(value):
        tree = kind_of(type(value))
        return tree.get("kind") or tree.get("source") or SEE_BELOW
    if isinstance(value, bool | dict):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return {None: "null", "": '""'}.get(value, str(value))


def keys_ending(segment: str) -> list[str]:
    """The keys whose last segment is this one, in the order of the page: `device` -> `engine.device`."""
    return [key for key in all_keys() if key.split(".")[-1] == segment]


def matching_keys(name: str) -> list[str]:
    """The keys that `lr`, `training-lr` or `batch-size` can stand for: that key, or those that end so."""
    for spelling in dict.fromkeys((name, name.replace("-", "_"), name.replace("-", "."))):
        if spelling in SHORT_SETTINGS:
            return [SHORT_SETTINGS[spelling]]
        if spelling in all_keys() or spelling in NOTE_WORDS:
            return [spelling]
        if found := keys_ending(spelling):
            return found
    return []


def all_keys() -> dict[str, None]:
    return {key: None for setting in all_settings() for key in setting.keys}


def matching_settings(part: str) -> list[Setting]:
    """Settings with this in their key or kind; otherwise, in their sentence."""
    sought = part.lower()
    named = [one for one in all_settings() if any(sought in word for word in (*one.keys, *one.kinds))]
    if named or part_choices(part):
        return named
    return [one for one in all_settings() if sought in one.sentence.lower()]


def similar_word(part: str) -> str | None:
    """A word of the keys, kinds and lab notes that is spelled nearly like this."""
    names = [name for one in all_settings() for name in (*one.keys, *one.kinds)]
    words = {word for name in (*names, *NOTE_WORDS, *SHORT) for word in re.split(r"[._-]", name)}
    return next(iter(get_close_matches(part.lower(), sorted(words), 1, ALIKE)), None)


def part_choices(part: str = "") -> dict[str, tuple[str, ...]]:
    """Where one of a family of parts stands -> its kinds, if the place or a kind has this in its name."""
    sought = part.lower()
    places = {section.prefix: tuple(section.kinds) for section in SECTIONS if section.kinds}
    return {
        place: kinds
        for place, kinds in places.items()
        if "KIND" not in place and any(sought in word for word in (place, *kinds))
    }


def note_words(part: str) -> dict[str, tuple[tuple[str, ...], str]]:
    """Words of the lab notes that stand for such keys: word -> its keys here, and what it means."""
    sought = part.lower()
    return {
        word: (said.keys, said.about)
        for word, said in NOTE_WORDS.items()
        if sought in word or any(sought in key for key in said.keys)
    }


def suggest_key(path: str, value: Any, neighbours: Iterable[str], method: Any = None) -> str:
    """A remedy: a neighbour that is nearly called so, keys elsewhere by their last segment, or all neighbours.

    `method`, where it is known, is what the key was to change: keys that it has come first.
    """
    near, (*above, key) = sorted(neighbours), path.split(".")
    if path in MEANT:
        return f"did you mean {MEANT[path]}?"
    written, _ = deepest_key(path, value)
    last = written.rpartition(".")[2]
    close = bool(get_close_matches(key, near, n=1)) or (not above and any(key in name for name in near))
    if above and close:
        return nearest(key, near)
    found = keys_ending(last) or ([] if close else keys_like(last))
    if full_key(written) in map(full_key, found):  # it is a key, of another kind than this one
        return nearest(key, near)
    named = closest(written, [one for one in found if has(method, full_key(one).split(".")[1:])] or found)
    return f"did you mean {' or '.join(named)}?" if named else nearest(key, near, "" if above else SETTINGS)


def keys_like(key: str) -> list[str]:
    """Keys whose last segment begins like this, or is spelled nearly so."""
    last = {name: name.rpartition(".")[2] for name in all_keys()}
    begin = [name for name, segment in last.items() if len(key) >= LEAST and segment.startswith(key)]
    return begin or [name for name, segment in last.items() if get_close_matches(key, [segment], 1, ALIKE)]


def closest(path: str, keys: Iterable[str]) -> list[str]:
    """Those that share most segments with what was written, in the order of the page."""
    written = set(full_key(path).split(".")[:-1])
    shared = {key: len(written.intersection(full_key(key).split(".")[:-1])) for key in keys}
    return [key for key, many in shared.items() if many == max(shared.values())][:MOST_SUGGESTED]
