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
from dataclasses import MISSING, Field, fields, is_dataclass
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
from mooring.fusion import ENSEMBLES, FUSIONS, Fusion
from mooring.methods import GROUPS, Method
from mooring.models import Blueprint
from mooring.schema import non_default, shapes_of, to_tree
from mooring.uploads import Parts, expected_of
from mooring.weighting import WEIGHTINGS

HERE = Path(__file__).parent
SETTINGS = re.compile(r"(?P<mark><!-- settings: (?P<names>[a-z, ]+) -->)\n\n(?:\|[^\n]*\n)*")
FACTS = re.compile(r"<!-- (?P<what>method|docstring|weighting): (?P<name>[a-z0-9-]+) -->\n.*?<!-- end -->\n", re.DOTALL)
BEGIN, END = "<!-- made by docs/make_reference.py -->\n", "<!-- end -->\n"
SCHEDULE = shapes_of(Training)["lr_schedule"].words  # nine kinds of schedules, told once
DIGITS = (1, 8, 8), tuple(map(str, range(10)))  # the embedded digits: shape of an image, classes


def sent(overrides: list[str], needs: Parts | None = None) -> tuple[str, str]:
    """What one client uploads on the digits, sentence by sentence with bytes, and all of it."""
    [experiment] = load(overrides=overrides)
    source, method = experiment.data, experiment.method
    assert method.fusion is not None
    blueprint = Blueprint(experiment.model, method.client.head, *DIGITS, source.mean, source.std)
    return told(method.fusion.needs if needs is None else needs, blueprint)


@cache
def told(needs: Parts, blueprint: Blueprint) -> tuple[str, str]:
    blocks = explain_tensors(expected_of(needs, blueprint))
    words = "; ".join(f"{block.sentence} ({block.bytes:,})" for block in blocks)
    return words, f"{sum(block.bytes for block in blocks):,}"


def grouped(sent_by: dict[str, tuple[str, str]]) -> Rows:
    """A row for all that send the same."""
    names: dict[tuple[str, str], list[str]] = {}
    for name, upload in sent_by.items():
        names.setdefault(upload, []).append(f"`{name}`")
    return [(*upload, ", ".join(same)) for upload, same in names.items()]


def uploads() -> str:
    federated = [name for name, method in METHODS.items() if method.fusion is not None and method.shards != "pooled"]
    methods = grouped({name: sent([f"method={name}"]) for name in federated})
    fusions = grouped({name: sent(["method=v7"], rule().needs) for name, rule in FUSIONS.items()})
    return "\n\n".join(
        [
            "## Method by method",
            table(("what leaves a client (bytes)", "bytes", "methods"), methods),
            withholding(federated),
            "## Fusion by fusion",
            "What `mooring fuse RUN --fusion NAME` would have asked of the clients of `v7`, by itself:",
            table(("what leaves a client (bytes)", "bytes", "fusions"), fusions),
        ]
    )


def withholding(methods: Sequence[str]) -> str:
    """Which methods can do without counts, in a sentence."""
    needs = {name: METHODS[name].fusion.needs for name in methods}  # type: ignore[union-attr]  # those with a fusion
    cannot = ", ".join(f"`{name}`" for name, parts in needs.items() if counting(parts))
    return (
        f"`mooring plan --withhold-counts` works for all of these that can be planned, but not for {cannot}: they "
        "compute with counts or with sums over images. With another `fusion=` it is the fusion that decides."
    )


def fusions() -> str:
    """What a client uploads for each rule, what the server must hold, what a prediction costs, and the paper."""
    headings = ("fusion", "a client uploads", "bytes per client", "the server holds", "passes", "source")
    return table(headings, [fusion_row(kind, rule()) for kind, rule in FUSIONS.items()])


def fusion_row(kind: str, rule: Fusion) -> tuple[str, ...]:
    _, nbytes = sent(["method=v7"], rule.needs)
    passes = "K" if rule.group == ENSEMBLES else "1"
    holds = ", ".join(sorted(rule.asks)) or "-"
    return f"[`{kind}`](#{kind})", uploads_of(rule), nbytes, holds, passes, rule.reference


@cache
def digits() -> dict[str, str]:
    """The accuracy of every method on the digits; docs/make_methods.py writes the file."""
    with (HERE / "methods/digits.csv").open(encoding="utf-8") as file:
        return {row["method"]: row["accuracy"] for row in csv.DictReader(file)}


def method_index() -> str:
    """Every method with its page, its source and its accuracy, in the groups of `mooring methods`."""
    pages = section_pages()
    headings = ("method", "in one line", "source", "accuracy, digits")
    tables = []
    for group, methods in GROUPS.items():
        rows = [
            (f"[`{name}`]({pages.get(name, '')}#{name})", method.about, method.reference, digits()[name])
            for name, method in methods.items()
        ]
        tables += [f"**{group[0].upper()}{group[1:]}**", table(headings, [*rows])]
    return "\n\n".join(tables)


def sections_of(page: Path) -> list[str]:
    return re.findall(r"^<!-- method: (\S+) -->$", page.read_text("utf-8"), re.MULTILINE)


def facts(name: str) -> str:
    """What a method is made of, whose it is, what a client uploads and what it reached on the digits."""
    method = METHODS[name]
    client = f"- Client: {recipe(method)}"
    weight = method.client.align and f"- Weight of the alignment: `{composition(method.client.align.weight)}`"
    return "\n".join(
        [
            f"{method.about[0].upper()}{method.about[1:]}.\n",
            f"- Source: {method.reference}",
            *[line for line in (client, weight) if line and not line.endswith(": ")],
            f"- Server: {server(name, method)}",
            f"- Accuracy on the digits: {digits()[name]} (seed 1, n = 1)",
        ]
    )


def server(name: str, method: Method) -> str:
    if method.fusion is None:
        return "fuses nothing"
    link = f"[`{composition(method.fusion)}`](../fusions.md#{method.fusion.kind})"
    return f"{link}; {sent([f'method={name}'])[1]} bytes per client on the digits; track: {method.track}"


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


def keys_and_users(kind: str) -> str:
    """The keys of a weighting with their defaults, and the methods that use it."""
    keys = [f"`{field.name}` {default_of(field)}" for field in fields(WEIGHTINGS[kind])]
    where = section_pages()
    users = [
        f"[{name}](methods/{where[name]}#{name})"
        for name, method in METHODS.items()
        if method.client.align and kind in kinds_in(to_tree(method.client.align.weight))
    ]
    return f"**Keys.** {', '.join(keys) or 'None'}.\n\n**Methods.** {', '.join(users) or 'None'}."


def default_of(field: Field[Any]) -> str:
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    return getattr(value, "kind", "see above") if is_dataclass(value) else "null" if value is None else str(value)


def kinds_in(tree: Any) -> set[str]:
    """The kind of a weighting and of those inside it."""
    own = {tree["kind"]} if "kind" in tree else set()
    return own.union(*(kinds_in(part) for part in tree.values() if isinstance(part, dict)))


@cache
def section_pages() -> dict[str, str]:
    return {name: path.name for path in sorted(HERE.glob("methods/*.md")) for name in sections_of(path)}


def with_facts(page: str) -> str:
    made = {"method": facts, "docstring": docstring, "weighting": keys_and_users}

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
        kinds = [", ".join(f"`{kind}`" for kind in setting.kinds) or f"every {choice}"] if choice else []
        key = setting.name if choice else setting.keys[0]
        short = setting.default == METHOD_DEFAULT and full_key(key) != key
        meaning = f"short for `{full_key(key)}`" if short else setting.meaning
        rows.append((*kinds, f"`{key}`", f"{default_cell(setting)}; {range_cell(setting)}", meaning))
    return table((*([choice] if choice else []), "key", "default; range", "meaning"), rows)


def default_cell(setting: Setting) -> str:
    words = (SEE_BELOW, METHOD_DEFAULT, "required")
    return setting.default if setting.default in words else f"`{setting.default}`"


def range_cell(setting: Setting) -> str:
    words = setting.range.removesuffix(", or null") if setting.default == "null" else setting.range
    return "a [schedule](#schedules)" if words == SCHEDULE else words


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
    "weightings.md": with_facts,
} | {f"methods/{path.name}": with_facts for path in sorted(HERE.glob("methods/*.md")) if path.name != "README.md"}


if __name__ == "__main__":
    for name, renewed in PAGES.items():
        path = HERE / name
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")
        print(path)
