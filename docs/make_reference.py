"""Write what the pages can take from the code: `python docs/make_reference.py`.

docs/commands.md gets every command with its arguments and options, docs/privacy.md what a client uploads for every
method and fusion, in the words of `mooring inspect`, docs/fusions.md the table of all fusions, and
docs/methods/README.md the table of all methods. They are between marks (`BEGIN`, `END`). docs/configuration.md gets the
tables of all settings, each below a comment that names its sections (`SETTINGS`). The pages of docs/methods get the
facts about every method and the docstrings of parts (`FACTS`); accuracies are read from docs/methods/digits.csv. The
rest of a page is written by hand. A test compares; nothing is trained.
"""

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from itertools import starmap
from pathlib import Path
from typing import Any

from command_tables import Rows, commands, table

from mooring import METHODS, load
from mooring.cli.methods import uploads_of
from mooring.client import Training
from mooring.config import METHOD_DEFAULT, PART_KINDS, SECTIONS, SEE_BELOW, Setting, full_key, settings_in
from mooring.federation import counting, explain_tensors
from mooring.fusion import FUSIONS, Fusion
from mooring.methods import GROUPS, Method
from mooring.models import Blueprint
from mooring.schema import non_default, shapes_of, to_tree
from mooring.uploads import Parts, expected_of
from mooring.weighting import WEIGHTINGS

HERE = Path(__file__).parent
SETTINGS = re.compile(r"(?P<mark><!-- settings: (?P<names>[a-z, ]+) -->)\n\n(?:\|[^\n]*\n)*")
FACTS = re.compile(r"<!-- (?P<what>method|docstring): (?P<name>[a-z0-9-]+) -->\n.*?<!-- end -->\n", re.DOTALL)
BEGIN, END = "<!-- made by docs/make_reference.py -->\n", "<!-- end -->\n"
SCHEDULE = shapes_of(Training)["lr_schedule"].words  # nine kinds of schedules, told once
BOUNDS = re.compile(r"^(above \d|[\d.]+ or more|[\d.]+ to [\d.]+)")
OBVIOUS = ("text", "a number", "a path", "its keys", "a mapping")
DIGITS = (1, 8, 8), tuple(map(str, range(10)))  # the embedded digits: shape of an image, classes


@dataclass(frozen=True)
class Sent:
    """What one client uploads: bytes by sentence."""

    blocks: tuple[tuple[str, int], ...]

    @property
    def total(self) -> str:
        return f"{sum(nbytes for _, nbytes in self.blocks):,}"


def sent(overrides: list[str], needs: Parts | None = None) -> Sent:
    """What one client uploads on the digits."""
    [experiment] = load(overrides=overrides)
    source, method = experiment.data, experiment.method
    assert method.fusion is not None
    blueprint = Blueprint(experiment.model, method.client.head, *DIGITS, source.mean, source.std)
    return sent_by(method.fusion.needs if needs is None else needs, blueprint)


@cache
def sent_by(needs: Parts, blueprint: Blueprint) -> Sent:
    return Sent(tuple((block.sentence, block.bytes) for block in explain_tensors(expected_of(needs, blueprint))))


def uploads() -> str:
    """Every sentence once, with a number, and for every method the numbers and bytes; most methods send the same."""
    federated = [name for name, method in METHODS.items() if method.fusion is not None and method.shards != "pooled"]
    names: dict[Sent, list[str]] = {}
    for name in federated:
        names.setdefault(sent([f"method={name}"]), []).append(f"`{name}`")
    numbers = {sentence: 1 + at for at, sentence in enumerate(dict.fromkeys(s for own in names for s, _ in own.blocks))}
    most = max(names, key=lambda own: len(names[own]))
    rows = [
        (
            "all other methods that train" if own is most else ", ".join(same),
            ", ".join(f"{numbers[sentence]} ({nbytes:,})" for sentence, nbytes in own.blocks),
            own.total,
        )
        for own, same in names.items()
    ]
    return "\n\n".join(
        [
            "\n".join(f"{number}. {sentence}" for sentence, number in numbers.items()),
            table(("methods", "numbers of the list above (bytes)", "bytes"), rows),
            withholding(federated),
        ]
    )


def withholding(methods: Sequence[str]) -> str:
    """Which methods can do without counts, in a sentence."""
    needs = {name: METHODS[name].fusion.needs for name in methods}  # type: ignore[union-attr]  # those with a fusion
    cannot = ", ".join(f"`{name}`" for name, parts in needs.items() if counting(parts))
    return f"`mooring plan --withhold-counts` is not available for {cannot}: they compute with counts or sums."


def fusions() -> str:
    """What a client uploads for each rule, what the server must hold, and the paper."""
    headings = ("fusion", "a client uploads", "bytes per client", "the server holds", "source")
    return table(headings, [fusion_row(kind, rule()) for kind, rule in FUSIONS.items()])


def fusion_row(kind: str, rule: Fusion) -> tuple[str, ...]:
    nbytes = sent(["method=v7"], rule.needs).total
    holds = ", ".join(sorted(rule.asks)) or "-"
    return f"[`{kind}`](#{kind})", uploads_of(rule), nbytes, holds, rule.reference


@cache
def digits() -> dict[str, str]:
    """The accuracy of every method on the digits; docs/make_methods.py writes the file."""
    with (HERE / "methods/digits.csv").open(encoding="utf-8") as file:
        return {row["method"]: row["accuracy"] for row in csv.DictReader(file)}


def method_index() -> str:
    """Every method with its section and its accuracy, in the groups of `mooring methods`."""
    pages = section_pages()
    lines = []
    for group, methods in GROUPS.items():
        found = [f"[`{name}`]({pages.get(name, '')}#{name}) {digits()[name]}" for name in methods]
        lines.append(f"- **{group[0].upper()}{group[1:]}:** {', '.join(found)}")
    return "\n".join(lines)


def sections_of(page: Path) -> list[str]:
    return re.findall(r"^<!-- method: (\S+) -->$", page.read_text("utf-8"), re.MULTILINE)


def facts(name: str) -> str:
    """What a method is, whose it is, what it is made of where that differs from `v4`, its accuracy on the digits."""
    method = METHODS[name]
    published = METHODS["v4"].fusion
    found = {
        "Source": method.reference,
        "Client": recipe(method),
        "Weight": method.client.align and f"`{composition(method.client.align.weight)}`",
        "Server": None if method.fusion == published else server(method),
        "Digits": digits()[name],
    }
    known = ". ".join(f"*{title}:* {fact}" for title, fact in found.items() if fact)
    return f"{method.about[0].upper()}{method.about[1:]}. {known}."


def server(method: Method) -> str:
    if method.fusion is None:
        return "fuses nothing"
    track = "" if method.track == "trained from scratch" else f" ({method.track})"
    return f"[`{composition(method.fusion)}`](../fusions.md#{method.fusion.kind}){track}"


def recipe(method: Method) -> str:
    """How the client differs from FAFI's (`v4`), its weight aside."""
    published, own = METHODS["v4"].client, method.client
    if not own.terms:
        return "trains nothing"
    words = [] if own.terms == published.terms else [" + ".join(f"`{composition(term)}`" for term in own.terms)]
    if own.align and own.align.term.kind != "mean-squared":
        words.append(f"alignment `{composition(own.align.term)}`")
    words += [f"`{key}={text(to_tree(part, non_default))}`" for key, part in non_default(own) if key in OWN_KEYS]
    return ", ".join(words)


OWN_KEYS = ("head", "views", "clip", "stages", "memory", "held_out")


def composition(part: object) -> str:
    return text(to_tree(part, non_default))


def text(tree: Any) -> str:
    """A tree on one line: kind(key=value, ...), with what differs from the defaults."""
    match tree:
        case dict():
            inside = ", ".join(f"{key}={text(value)}" for key, value in tree.items() if key != "kind")
            return f"{tree.get('kind', '')}({inside})" if inside else str(tree.get("kind", "default"))
        case list():
            return f"[{', '.join(map(text, tree))}]"
        case _:
            return str(tree)


def docstring(kind: str) -> str:
    """Formula, source and deviations, as they are written on the part; formulas keep their lines."""
    part = WEIGHTINGS.get(kind) or FUSIONS[kind]
    first, *others = cleandoc(part.__doc__ or "").split("\n\n")
    return "\n\n".join([f"```text\n{first}\n```", *map(paragraph, others)])


def paragraph(words: str) -> str:
    if " = " in words or ":  " in words or "<-" in words:
        return f"```text\n{words}\n```"
    spoken = words.split("`")[::2]
    escaped = [re.sub(r"([_*<^|])", r"\\\1", plain) for plain in spoken]
    code = [f"`{inside}`" for inside in words.split("`")[1::2]] + [""]
    return "".join(starmap("{}{}".format, zip(escaped, code, strict=True)))


@cache
def section_pages() -> dict[str, str]:
    return {name: path.name for path in sorted(HERE.glob("methods/*.md")) for name in sections_of(path)}


def with_facts(page: str) -> str:
    made = {"method": facts, "docstring": docstring}

    def renewed(found: re.Match[str]) -> str:
        what, name = found["what"], found["name"]
        return f"<!-- {what}: {name} -->\n\n{made[what](name)}\n\n{END}"

    return FACTS.sub(renewed, page)


def settings_table(names: list[str]) -> str:
    """The settings of these sections: keys of a kind by their own name, all others as they are written."""
    sections = [section for name in names for section in SECTIONS if section.name == name]
    choice = next((PART_KINDS[section.cls].key for section in sections if section.kinds), "")
    rows: Rows = []
    for setting in (setting for section in sections for setting in settings_in(section)):
        kinds = ", ".join(f"`{kind}`" for kind in setting.kinds)
        key = f"`{setting.name if choice else setting.keys[0]}`"
        short = setting.default == METHOD_DEFAULT and full_key(setting.name) != setting.name
        meaning = f"short for `{full_key(setting.name)}`" if short else setting.meaning
        rows.append((f"{kinds}: {key}" if kinds else key, default_cell(setting), meaning))
    return table((f"{choice}: key" if choice else "key", "default", "meaning"), rows)


def default_cell(setting: Setting) -> str:
    """The default, and what else there is to choose; bounds of numbers are told by `mooring settings`."""
    words = (SEE_BELOW, METHOD_DEFAULT, "required")
    default = setting.default if setting.default in words else f"`{setting.default}`"
    chosen = setting.range.removesuffix(", or null")
    if chosen == SCHEDULE:
        return f"{default} (a [schedule](#schedules))"
    return default if chosen in OBVIOUS or BOUNDS.search(chosen) else f"{default} ({chosen})"


def with_settings(page: str) -> str:
    """The page with every table of settings replaced."""
    return SETTINGS.sub(lambda found: f"{found['mark']}\n\n{settings_table(found['names'].split(', '))}\n", page)


def between_marks(page: str, made: str) -> str:
    """The page with what is between its marks replaced."""
    return re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n{made}\n\n{END}", page, flags=re.DOTALL)


PAGES: dict[str, Callable[[str], str]] = {
    "commands.md": lambda page: between_marks(page, commands()),
    "configuration.md": with_settings,
    "fusions.md": lambda page: between_marks(page, fusions()),
    "methods/README.md": lambda page: between_marks(page, method_index()),
    "privacy.md": lambda page: between_marks(page, uploads()),
} | {f"methods/{path.name}": with_facts for path in sorted(HERE.glob("methods/*.md")) if path.name != "README.md"}


if __name__ == "__main__":
    for name, renewed in PAGES.items():
        path = HERE / name
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")
        print(path)
