"""Every command with its arguments and options, as Markdown; docs/make_reference.py writes it to docs/commands.md."""

from collections.abc import Iterator
from itertools import starmap

import typer
from click import Command, Context, Group, Parameter

from mooring.cli import app
from mooring.cli.verbs import LEFT, RIGHT

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
