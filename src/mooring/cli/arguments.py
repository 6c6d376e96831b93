"""Arguments that several verbs share."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mooring.config import Experiment

Settings = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CONFIG.yaml] [KEY=VALUE ...]", help="A configuration file and overrides, e.g. method=v7 seed=3"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]


def experiments(settings: list[str] | None) -> "list[Experiment]":
    """The experiments that a file (if the first setting is one) and overrides describe."""
    from mooring.config import load

    settings = settings or []
    if settings and "=" not in settings[0]:
        return load(Path(settings[0]), settings[1:])
    return load(None, settings)


def print_json(value: object) -> None:
    from mooring.store import strict_json

    sys.stdout.write(strict_json(value, indent=1) + "\n")
