"""Hints for options that are settings, or that another verb has."""

import re
import shlex
import sys

from click import Context, NoSuchOption
from typer.core import TyperCommand

from mooring.errors import ConfigError

FILES_ONLY = ("--report", "--data", "--need", "--strict", "--into", "--encoder")  # moved from fuse to fuse-files
MOST = 3  # keys that are proposed
REJECTED = re.compile("must |unknown;")  # because of the value, whatever the method
SEVERAL = re.compile(r",|\.\.")  # values, as a sweep takes them


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
