"""Every verb with its function and a few words, and `mooring --help`, which shows them on one screen of 80 x 24."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
import typer
from click import Context, HelpFormatter
from typer.core import TyperCommand, TyperGroup

from mooring.cli import (
    calibrate,
    check,
    coordinator,
    data,
    doctor,
    folders,
    fuse,
    imports,
    methods,
    model,
    run,
    serve,
    settings,
    site,
    study,
    sweep,
    watch,
)
from mooring.cli.help import TakesSettings
from mooring.errors import ConfigError

WIDTH = 80  # in a narrower terminal, the right column is printed below the left one
COLUMN = 40
ABOUT = "One-shot federated learning. First: mooring run. More: mooring VERB --help"
RENAMED = {"card": "model-card", "recover": "reveal-masks"}


@dataclass(frozen=True)
class Verb:
    """A command of `mooring`; `mooring NAME --help` has the rest. Without a function it is a group of commands."""

    name: str
    words: str
    function: Callable[..., Any] | None = None
    command: type[TyperCommand] | None = None  # TakesSettings if its arguments are settings


class VerbGroup:
    """Verbs that belong together."""

    def __init__(self, title: str, *verbs: Verb) -> None:
        self.title, self.verbs = title, verbs


LEFT = (
    VerbGroup(
        "Choose",
        Verb("methods", "what clients and server do", methods.methods),
        Verb("fusions", "how uploads become one", methods.fusions),
        Verb("show", "a method, all its parts", methods.show),
        Verb("settings", "every key: default, range", settings.settings),
        Verb("config", "a file to begin with", settings.config),
        Verb("data", "image sources; data fetch"),
        Verb("check", "are the images sound?", check.check),
        Verb("partition", "who holds which images", data.partition, TakesSettings),
    ),
    VerbGroup(
        "Compare",
        Verb("sweep", "combinations, one table", sweep.sweep, TakesSettings),
        Verb("compare", "finished runs, one page", folders.compare),
        Verb("study", "the lab notes, run again", study.study, TakesSettings),
        Verb("import", "logs of the published code", imports.import_),
    ),
    VerbGroup(
        "Use a model",
        Verb("predict", "classes of images", model.predict),
        Verb("calibrate", "fit it to your images", calibrate.calibrate),
        Verb("evaluate", "how often it is right", model.evaluate),
        Verb("personalise", "a model for one site", model.personalise),
        Verb("serve", "a page and an API for it", serve.serve),
        Verb("export", "as ONNX", model.export),
        Verb("model-card", "what to know before use", model.model_card),
    ),
)
RIGHT = (
    VerbGroup(
        "Run, all sites on this machine",
        Verb("run", "train, upload, fuse, test", run.run, TakesSettings),
        Verb("resume", "continue a run", run.resume),
        Verb("watch", "follow it from elsewhere", watch.watch),
        Verb("fuse", "fuse a run by other rules", fuse.fuse, TakesSettings),
        Verb("doctor", "diagnose a run or a plan", doctor.doctor, TakesSettings),
    ),
    VerbGroup(
        "Federate, by one file per site",
        Verb("plan", "write the job for sites", coordinator.plan, TakesSettings),
        Verb("approve", "a site agrees to a job", site.approve),
        Verb("train", "make a site's upload", site.train),
        Verb("inspect", "what a file contains", site.inspect),
        Verb("fuse-files", "uploads become a model", coordinator.fuse_files),
        Verb("reveal-masks", "if a site never answers", site.reveal_masks),
        Verb("keys", "your public key", site.keys),
        Verb("log", "what was decided here", site.log),
        Verb("flower", "the same over a network"),
    ),
    VerbGroup(
        "Read results",
        Verb("report", "a page, tables, figures", folders.report),
        Verb("track", "TensorBoard or MLflow", folders.track),
        Verb("verify", "is a run unchanged?", folders.verify),
        Verb("clean", "free the space of states", folders.clean),
    ),
)


class FrontPage(TyperGroup):
    """All verbs in their groups; Typer's own panels give each verb a line and would need two screens."""

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Two columns of plain text; names are bold in a terminal."""
        left, right = column_lines(LEFT), column_lines(RIGHT)
        shown = [bold(*line) for line in left + right]
        if formatter.width >= WIDTH - 2:  # click keeps two columns free
            longest = max(len(left), len(right))
            rows = zip(padded(left, longest), padded(right, longest), strict=True)
            shown = [f"{bold(*one)}{' ' * (COLUMN - len(''.join(one)))}{bold(*other)}".rstrip() for one, other in rows]
        formatter.write("\n".join([ABOUT, *shown]))

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """A verb under its old name is answered with the new one."""
        if args and (name := RENAMED.get(args[0])):
            raise ConfigError([f"{args[0]} has a new name; write: {shlex.join(['mooring', name, *args[1:]])}"])
        return super().resolve_command(ctx, args)


def column_lines(groups: tuple[VerbGroup, ...]) -> list[tuple[str, str]]:
    """What is bold, and what follows it."""
    widest = max(len(verb.name) for group in groups for verb in group.verbs)
    return [
        line
        for group in groups
        for line in ((group.title, ""), *((f"  {verb.name:<{widest}}", f" {verb.words}") for verb in group.verbs))
    ]


def padded(lines: list[tuple[str, str]], length: int) -> list[tuple[str, str]]:
    return lines + [("", "")] * (length - len(lines))


def bold(name: str, words: str) -> str:
    return f"{typer.style(name, bold=True)}{words}" if name else ""
