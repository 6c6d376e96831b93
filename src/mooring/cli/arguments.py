"""What several verbs share: their arguments, and how a command ends."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.errors import ConfigError, Interruption
from mooring.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mooring.config import Experiment, Trust

SettingsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE] [KEY=VALUE]", help="A YAML file, then overrides such as method=v7 seed=3."),
]
Root = Annotated[str | None, typer.Option(help="Where data sets are; default MOORING_DATA or ~/.cache/mooring.")]
TrustCode = Annotated[
    bool,
    typer.Option("--trust-code", help="Import (and so run) the code that the folder or model names."),
]
PositiveOption = Annotated[str | None, typer.Option(help="The class whose sensitivity, specificity and AUC count.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]

Events = Annotated[bool, typer.Option("--events", help="Progress as JSON lines on standard error.")]

# Exit codes when a command is neither well nor a user's mistake (2, as every `MooringError` says).
FAILED = 3  # ended with less than all clients or runs
INTERRUPTED = 130  # by Ctrl-C


def begin_workers(module: str) -> None:
    """Start the process that forks workers early: it imports `module` and torch in parallel to this one."""
    if (os.cpu_count() or 1) > 1:
        from mooring.processes import start_early

        start_early(module)


def experiments(settings: list[str] | None) -> "list[Experiment]":
    """The experiments that a file (if the first setting is one) and overrides describe."""
    from mooring.cli.live import getting_ready

    with getting_ready():
        return experiments_of(settings or [])


def experiments_of(settings: list[str]) -> "list[Experiment]":
    from mooring.config import load

    if settings and "=" not in settings[0]:
        from mooring.methods import METHODS

        if settings[0] in METHODS:
            raise ConfigError([f"{settings[0]!r}: is a method, not a file; write method={settings[0]}"])
        return load(Path(settings[0]), settings[1:])
    return load(None, settings)


def trusted(trust_code: bool, words: "Iterable[str]" = ()) -> "Trust":
    """Whose code a verb may import because a folder names it: anybody's, or that of modules named by these words."""
    from mooring.config import ALL_CODE, code_named_in

    return ALL_CODE if trust_code else code_named_in(words)


def resuming(folder: Path, experiment: "Experiment") -> str:
    """The command that goes on with a run; a user's own code in it must be trusted again."""
    from mooring.config import trusted_code_of

    flags = ["--trust-code"] if trusted_code_of(experiment.tree()).modules else []
    return shlex.join(["mooring", "resume", *flags, str(folder)])


def command() -> str:
    """What was typed, as a shell takes it."""
    return shlex.join(["mooring", *sys.argv[1:]])


@contextmanager
def resumable() -> Iterator[None]:
    """Ctrl-C ends the command with the hint that the same command continues."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interruption("interrupted", f"go on with: {command()}") from None


def as_object(record: object) -> dict[str, object]:
    """A record as a JSON object, to which a verb may add where it lies."""
    from mooring.schema import record_tree

    tree: dict[str, object] = record_tree(record)
    return tree


def say(text: str, err: bool = False) -> None:
    """Print a line; control characters are written out."""
    typer.echo(printable(text), err=err)


def print_json(value: object) -> None:
    from mooring.schema import strict_json

    sys.stdout.write(strict_json(value, indent=1) + "\n")
