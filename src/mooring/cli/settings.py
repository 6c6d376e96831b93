"""`mooring settings` and `mooring config`: every key of a configuration, and files to start from."""

from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, print_json
from mooring.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from mooring.config import Setting

KEY, DEFAULT = 26, 12  # letters of the first two columns
WIDEST = 100  # letters of a line; longer ones are hard to read


def settings(
    part: Annotated[str, typer.Argument(metavar="[PART]", help="Only keys and kinds with this in their name.")] = "",
    json: AsJson = False,
) -> None:
    """List every setting (key=value): default, range and one sentence.

    Search by a part of the name: mooring settings weight, mooring settings sigma
    """
    from mooring.config import matching_settings, note_words, part_choices, similar_word

    found, said, kinds = matching_settings(part), note_words(part), part_choices(part)
    if not (found or said or kinds):
        similar = similar_word(part)
        remedy = f"did you mean {similar!r}?" if similar else "mooring settings lists all of them"
        raise ConfigError([f"no setting matches {part!r}; {remedy}"])
    if json:
        print_json([setting_tree(setting) for setting in found])
        return
    show_settings(found, kinds, said)


def setting_tree(setting: "Setting") -> dict[str, object]:
    return {
        "keys": setting.keys,
        "kinds": setting.kinds,
        "default": setting.default,
        "range": setting.range,
        "meaning": setting.sentence,
    }


def show_settings(
    found: "Sequence[Setting]", kinds: "dict[str, tuple[str, ...]]", said: "dict[str, tuple[tuple[str, ...], str]]"
) -> None:
    """Key, default and range, the sentence below; keys that come with a choice under the word that makes it."""
    from rich.text import Text

    from mooring.cli.screen import Screen
    from mooring.config import short_key

    screen = Screen(soft_wrap=True)
    width = min(screen.width, WIDEST)
    if found:
        screen.print(Text(f"{'key':<{KEY}} {'default':<{DEFAULT}} range", "dim"))
    for prefix, section in groupby(found, lambda setting: setting.prefix):
        if prefix in kinds:
            screen.print(kinds_line(prefix, kinds[prefix], width))
        for heading, group in groupby(section, choice):
            if heading:
                screen.print(Text(heading, "italic dim"))
            for setting in group:
                screen.print(entry(setting.keys, setting.default, setting.range, setting.sentence, width))
    for prefix in kinds.keys() - {setting.prefix for setting in found}:
        screen.print(kinds_line(prefix, kinds[prefix], width))
    for word, (keys, about) in said.items():
        text = f"word of the lab notes for {', '.join(map(short_key, keys))}: {about}"
        screen.print(entry((word,), "", "", text, width))


def kinds_line(place: str, kinds: "Sequence[str]", width: int) -> "Text":
    """`weight = fixed, annealed, ...`"""
    from rich.text import Text

    lines = wrap(f"{place} = {', '.join(kinds)}", width, subsequent_indent="    ", break_on_hyphens=False)
    return Text("\n".join(lines), "cyan")


def choice(setting: "Setting") -> str:
    """What must be chosen for a key to be there: `weight=fixed`; nothing where it always is."""
    from mooring.config import part_choices

    if setting.kinds:
        return "" if "KIND" in setting.prefix else f"with {setting.prefix}={' or '.join(setting.kinds)}"
    return f"with every {setting.prefix}" if setting.prefix in part_choices() else ""


def entry(keys: "Sequence[str]", default: str, range_: str, sentence: str, width: int) -> "Text":
    """Three columns; what is too long for its own moves the next one to another line."""
    from rich.text import Text

    *others, key = keys
    lines = [Text(other, "bold") for other in others]
    head = Text(f"{key:<{KEY}} ", "bold")
    if len(key) > KEY:
        lines, head = [*lines, Text(key, "bold")], Text(" " * (KEY + 1))
    head += Text(f"{default:<{DEFAULT}} ", "cyan")
    if len(default) > DEFAULT:
        lines, head = [*lines, head], Text(" " * (KEY + DEFAULT + 2))
    first, *rest = wrap(range_, max(width - KEY - DEFAULT - 2, 20), break_on_hyphens=False) or [""]
    lines += [head + Text(first), *(Text(" " * (KEY + DEFAULT + 2) + line) for line in rest)]
    lines += [Text(f"    {line}") for line in wrap(sentence, max(width - 4, 20), break_on_hyphens=False)]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def config(
    name: Annotated[str | None, typer.Argument(help="Which file; without it, the list of them.")] = None,
) -> None:
    """Print an experiment file to start from: `mooring config digits > my.yaml`."""
    from rich.table import Column

    from mooring.cli.screen import Screen, plain_table
    from mooring.config import example, example_summary, examples

    if name is not None:
        typer.echo(example(name), nl=False)
        return
    table = plain_table(Column("file", style="bold", no_wrap=True), "about")
    for key in examples():
        table.add_row(key, example_summary(example(key)))
    Screen().print(table)
