"""Every command with its arguments and options, as Markdown; docs/make_reference.py writes it to docs/commands.md."""

from collections import Counter
from collections.abc import Iterable, Iterator

import typer
from click import Command, Context, Group, Parameter

from mooring.cli import app
from mooring.cli.verbs import LEFT, RIGHT

Rows = list[tuple[str, ...]]
SEVERAL = 2  # commands with the same argument or option


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
    """The help, without lists that keep their lines in the terminal."""
    return [" ".join(part.split()) for part in (command.help or "").split("\n\n") if not part.startswith("\b")]


def card(name: str, command: Command, common: Rows) -> str:
    """A heading, what the command does, how it is called, and its own options; then the names of common ones."""
    context = Context(command, info_name=name)
    pieces = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    rows = [about(parameter) for parameter in command.params if parameter.name != "help"]
    own = "\n".join(f"- {name}: {said}" for name, said in rows if (name, said) not in common and said)
    also = ", ".join(name for name, said in rows if (name, said) in common)
    usage = f"`{' '.join([name, *pieces])}`" if pieces else ""
    parts = [f"## {name}", usage, *paragraphs(command), own, f"Common: {also}." if also else ""]
    return "\n\n".join(part for part in parts if part)


def common_options(found: Iterable[Command]) -> Rows:
    """Arguments and options that several commands have with the same help: described once."""
    every = Counter(about(parameter) for command in found for parameter in command.params)
    return [(name, said) for (name, said), times in every.items() if times >= SEVERAL and said and name != "`--help`"]


def commands() -> str:
    program = typer.main.get_command(app)
    assert isinstance(program, Group)
    found = dict(verbs(program, "mooring"))
    index = [
        f"- {group.title}: {', '.join(f'[{verb.name}](#mooring-{verb.name})' for verb in group.verbs)}"
        for group in (*LEFT, *RIGHT)
    ]
    common = common_options(found.values())
    options = [f"- {name}: {said}" for name, said in common]
    cards = [card(name, command, common) for name, command in found.items()]
    return "\n\n".join(["\n".join(index), "## Common arguments and options", "\n".join(options), *cards])
