"""`mooring --help` on one screen of 80 x 24, and answers to commands and options that are spelled differently."""

import re
import shlex
import sys
from dataclasses import dataclass

import click
import typer
from click import Context, HelpFormatter, NoSuchOption
from typer.core import TyperCommand, TyperGroup

from mooring.errors import ConfigError

WIDTH = 80  # in a narrower terminal, the right column is printed below the left one
COLUMN = 40
ABOUT = "mooring VERB ...   One-shot federated learning: train once, upload once, fuse."
FOOTER = "More: mooring VERB --help. First: mooring run. Version: mooring --version"
RENAMED = {"card": "model-card", "recover": "reveal-masks"}
FILES_ONLY = ("--report", "--data", "--need", "--strict", "--into", "--encoder")  # moved from fuse to fuse-files
MOST = 3  # keys that are proposed
REJECTED = re.compile("must |unknown;")  # because of the value, whatever the method
SEVERAL = re.compile(r",|\.\.")  # values, as a sweep takes them


@dataclass(frozen=True)
class VerbGroup:
    """Verbs that belong together, each with a few words; `mooring VERB --help` has the rest."""

    title: str
    verbs: dict[str, str]


LEFT = (
    VerbGroup(
        "Choose",
        {
            "methods": "what clients and server do",
            "fusions": "how uploads become one",
            "show": "a method, all its parts",
            "settings": "every key: default, range",
            "config": "a file to begin with",
            "data": "image sources; data fetch",
            "partition": "who would hold which images",
        },
    ),
    VerbGroup(
        "Run, all sites on this machine",
        {
            "run": "train, upload, fuse, test",
            "resume": "continue an interrupted run",
            "watch": "follow it from elsewhere",
            "fuse": "fuse a run by other rules",
            "doctor": "diagnose a run or a plan",
        },
    ),
    VerbGroup(
        "Compare",
        {
            "sweep": "all combinations, one table",
            "compare": "finished runs, one page",
            "study": "the lab notes, run again",
            "import": "logs of the published code",
        },
    ),
)
RIGHT = (
    VerbGroup(
        "Federate, by one file per site",
        {
            "plan": "write the job for sites",
            "approve": "a site agrees to a job",
            "train": "make a site's upload",
            "inspect": "what a file contains",
            "fuse-files": "uploads become a model",
            "reveal-masks": "if a site never answers",
            "keys": "your public key",
            "log": "what was decided here",
            "flower": "the same over a network",
        },
    ),
    VerbGroup(
        "Use a model",
        {
            "predict": "classes of images",
            "evaluate": "how often it is right",
            "export": "as ONNX",
            "model-card": "what to know before use",
        },
    ),
    VerbGroup(
        "Read results",
        {
            "report": "a page, tables, figures",
            "track": "TensorBoard or MLflow",
            "verify": "is a run unchanged?",
            "clean": "free the space of states",
        },
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
        formatter.write("\n".join([ABOUT, *shown, FOOTER]))

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """A verb under its old name is answered with the new one."""
        if args and (name := RENAMED.get(args[0])):
            raise ConfigError([f"{args[0]} has a new name; write: {shlex.join(['mooring', name, *args[1:]])}"])
        return super().resolve_command(ctx, args)


def column_lines(groups: tuple[VerbGroup, ...]) -> list[tuple[str, str]]:
    """What is bold, and what follows it."""
    widest = max(len(verb) for group in groups for verb in group.verbs)
    return [
        line
        for group in groups
        for line in ((group.title, ""), *((f"  {verb:<{widest}}", f" {words}") for verb, words in group.verbs.items()))
    ]


def padded(lines: list[tuple[str, str]], length: int) -> list[tuple[str, str]]:
    return lines + [("", "")] * (length - len(lines))


def bold(name: str, words: str) -> str:
    return f"{typer.style(name, bold=True)}{words}" if name else ""


class TakesSettings(TyperCommand):
    """A verb whose arguments are settings, key=value."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """An unknown option may be a setting or an option of another verb; otherwise the error is about the option."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except NoSuchOption as error:
            if self.name == "fuse" and error.option_name in FILES_ONLY:
                raise ConfigError([moved_option(error.option_name)]) from None
            message = as_setting(error.option_name, words)
            if message is None:
                raise
            raise ConfigError([message]) from None


def moved_option(option: str) -> str:
    return f"{option}: is an option of mooring fuse-files, which fuses files of sites; mooring fuse takes a run folder"


def files_command() -> str:
    """What was typed after `mooring fuse`, as a command for files."""
    return shlex.join(["mooring", "fuse-files", *sys.argv[2:]])


def as_setting(option: str, words: list[str]) -> str | None:
    """`--seed 3` -> what to write instead; None where no setting is called like this."""
    from mooring.config import matching_keys

    keys = matching_keys(option.lstrip("-"))[:MOST]
    if not keys:
        return None
    value = option_value(option, words)
    said = f"{option}{f' {value}' if value else ''}: is a setting, not an option; write "
    answers = {key: "" if SEVERAL.search(value) else answer_to(key, value) for key in keys}
    rejected = {key: why for key, why in answers.items() if REJECTED.match(why)}
    if rejected and "" not in answers.values():
        key, why = next(iter(rejected.items()))
        return f"{said}{key}=... ({value}: {why})"
    *most, last = [f"{key}={value or '...'}" for key in keys if key not in rejected]
    return said + (f"{', '.join(most)} or {last}" if most else last)


def answer_to(key: str, value: str) -> str:
    """What the usual method says to a setting: nothing where it is taken, else why not, as
    `must be 'auto', 'cpu' or 'cuda'`."""
    from mooring.config import load

    if not value:
        return ""
    try:
        load(None, [f"{key}={value}"])
    except ConfigError as error:
        return error.problems[0].partition(f"={value}: ")[2]
    return ""


def option_value(option: str, words: list[str]) -> str:
    """What stands behind the option, after a blank or an equals sign."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == option and not following.startswith("-"):
            return "" if "=" in following else following
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return ""
