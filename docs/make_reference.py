"""Write what the pages can take from the code: `python docs/make_reference.py`.

docs/commands.md gets every command with its arguments and options, docs/privacy.md what a client uploads for every
method and fusion, in the words of `mooring inspect`, and docs/fusions.md the table of all fusions. They stand between
marks (`BEGIN`, `END`). docs/configuration.md gets the tables of all settings, each below a comment that names its
sections (`SETTINGS`). The rest of a page is written by hand. A test compares; nothing is trained.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import starmap
from pathlib import Path

import typer
from click import Command, Context, Group, Parameter

from mooring import METHODS, load
from mooring.cli import app
from mooring.cli.methods import uploads_of
from mooring.cli.verbs import LEFT, RIGHT
from mooring.config import METHOD_DEFAULT, PART_KINDS, SECTIONS, SEE_BELOW, settings_in
from mooring.federation import counting, explain_tensors
from mooring.fusion import ENSEMBLES, FUSIONS, Fusion
from mooring.models import Blueprint
from mooring.uploads import Parts, expected_of

HERE = Path(__file__).parent
SETTINGS = re.compile(r"(?P<mark><!-- settings: (?P<names>[a-z, ]+) -->)\n\n(?:\|[^\n]*\n)*")
BEGIN, END = "<!-- made by docs/make_reference.py -->\n", "<!-- end -->\n"
DIGITS = (1, 8, 8), tuple(map(str, range(10)))  # the embedded digits: shape of an image, classes
Rows = list[tuple[str, ...]]


def table(headings: tuple[str, ...], rows: Rows) -> str:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (headings, *rows)]
    first, *others = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([first, "|---" * len(headings) + "|", *others])


def verbs(group: Group, before: str) -> Iterator[tuple[str, Command]]:
    """Every command that can be typed, groups before what they hold."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        yield f"{before} {name}", command
        if isinstance(command, Group):
            yield from verbs(command, f"{before} {name}")


def about(parameter: Parameter) -> tuple[str, str]:
    """An argument or option, and its help."""
    name = parameter.human_readable_name if parameter.param_type_name == "argument" else ", ".join(parameter.opts)
    said = getattr(parameter, "help", None) or ""
    return f"`{name}`", " ".join(said.split())


def paragraphs(command: Command) -> list[str]:
    return [" ".join(part.split()) for part in (command.help or "").split("\n\n")]


def card(name: str, command: Command) -> str:
    """A heading, what the verb does, and its words."""
    context = Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    rows = [about(parameter) for parameter in command.params if parameter.name != "help"]
    parts = [f"## {name}", *paragraphs(command), f"```text\n{usage}\n```"]
    return "\n\n".join([*parts, table(("word", "what"), [*rows])] if rows else parts)


def commands() -> str:
    program = typer.main.get_command(app)
    assert isinstance(program, Group)
    found = dict(verbs(program, "mooring"))
    index = [
        (group.title if at == 0 else "", f"[`mooring {verb.name}`](#mooring-{verb.name})", verb.words)
        for group in (*LEFT, *RIGHT)
        for at, verb in enumerate(group.verbs)
    ]
    return "\n\n".join([table(("", "command", "what"), [*index]), *starmap(card, found.items())])


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


def settings_table(names: list[str]) -> str:
    """The settings of these sections: keys of a kind by their own name, all others as they are written."""
    sections = [section for name in names for section in SECTIONS if section.name == name]
    choice = next((PART_KINDS[section.cls].key for section in sections if section.kinds), "")
    rows: Rows = []
    for setting in (setting for section in sections for setting in settings_in(section)):
        kinds = [", ".join(f"`{kind}`" for kind in setting.kinds) or f"every {choice}"] if choice else []
        default = (
            setting.default if setting.default in (SEE_BELOW, METHOD_DEFAULT, "required") else f"`{setting.default}`"
        )
        key = setting.name if choice else setting.keys[0]
        rows.append((*kinds, f"`{key}`", default, setting.range, setting.meaning))
    return table((*([choice] if choice else []), "key", "default", "range", "meaning"), rows)


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
    "privacy.md": lambda page: between_marks(page, uploads()),
}


if __name__ == "__main__":
    for name, renewed in PAGES.items():
        path = HERE / name
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")
        print(path)
