"""Every setting: key, default, range and one sentence, for `mooring settings` and docs/configuration.md alike."""

import re
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any

from mooring.config.note_words import NOTE_WORDS
from mooring.config.part_kinds import PART_KINDS
from mooring.config.settings.of_fusions import FUSION_SECTIONS
from mooring.config.settings.of_methods import METHOD_SECTIONS
from mooring.config.settings.of_runs import LAST_SECTIONS, RUN_SECTIONS
from mooring.config.settings.of_weightings import WEIGHTING_SECTIONS
from mooring.config.settings.section import EVERY, OfKinds, OfRecord, SettingsSection
from mooring.schema import kind_of, shapes_of

SECTIONS: tuple[SettingsSection, ...] = (
    *RUN_SECTIONS,
    *METHOD_SECTIONS,
    *WEIGHTING_SECTIONS,
    *FUSION_SECTIONS,
    *LAST_SECTIONS,
)
BELOW = "see below"  # the default of a part with keys of its own
LINK = re.compile(r" ?\(\[[^]]*\]\([^)]*\)\)|\[([^]]*)\]\([^)]*\)")


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
        """Without Markdown."""
        return LINK.sub(r"\1", self.meaning).replace("`", "").replace(", see below", "")


@cache
def all_settings() -> tuple[Setting, ...]:
    """In the order of the page."""
    return tuple(setting for section in SECTIONS for setting in of_section(section))


def of_section(section: SettingsSection) -> Iterator[Setting]:
    match section:
        case OfRecord(name, prefix, record, sentences, given):
            for one in given:
                yield Setting(name, prefix, one.key, (), one.default, one.range, one.meaning)
            for key, meaning in sentences.items():
                yield Setting(name, prefix, key, (), *default_and_range(record, key), meaning)
        case OfKinds(name, prefix, family, sentences):
            for kinds_text, by_key in sentences.items():
                kinds = list(PART_KINDS[family].kinds) if kinds_text == EVERY else kinds_text.split(", ")
                for key, meaning in by_key.items():
                    [(default, range_)] = {default_and_range(PART_KINDS[family].kinds[kind], key) for kind in kinds}
                    shown = () if kinds_text == EVERY else tuple(kinds)
                    yield Setting(name, prefix, key, shown, default, range_, meaning)


def default_and_range(record: type, key: str) -> tuple[str, str]:
    """The default of a field, and what it may hold."""
    [found] = [f for f in fields(record) if f.name == key]
    value = found.default_factory() if found.default_factory is not MISSING else found.default
    return shown_default(value), shapes_of(record)[key].words


def shown_default(value: Any) -> str:
    """As YAML has it."""
    if value is MISSING:
        return "required"
    if is_dataclass(value):
        tree = kind_of(type(value))
        return tree.get("kind") or tree.get("source") or BELOW
    if isinstance(value, bool | dict):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return {None: "null", "": '""'}.get(value, str(value))


def keys_ending(segment: str) -> list[str]:
    """The keys whose last segment is this one, in the order of the page: `device` -> `engine.device`."""
    return [key for key in all_keys() if key.split(".")[-1] == segment]


def matching_keys(name: str) -> list[str]:
    """What somebody may mean who writes `lr`, `training-lr` or `batch-size`: that key, or those that end so."""
    for spelling in dict.fromkeys((name, name.replace("-", "_"), name.replace("-", "."))):
        if spelling in all_keys() or spelling in NOTE_WORDS:
            return [spelling]
        if found := keys_ending(spelling):
            return found
    return []


def all_keys() -> dict[str, None]:
    return {key: None for setting in all_settings() for key in setting.keys}


def matching(part: str) -> list[Setting]:
    """Settings with this in their key or kind; where there are none, in their sentence."""
    sought = part.lower()
    named = [one for one in all_settings() if any(sought in word for word in (*one.keys, *one.kinds))]
    if named or choices(part):
        return named
    return [one for one in all_settings() if sought in one.sentence.lower()]


def choices(part: str = "") -> dict[str, tuple[str, ...]]:
    """Where one of a family of parts stands -> its kinds, if the place or a kind has this in its name."""
    sought = part.lower()
    places = {one.prefix: tuple(PART_KINDS[one.family].kinds) for one in SECTIONS if isinstance(one, OfKinds)}
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
