"""Settings written as options are met half way: `--seed 3` is answered with `write seed=3`."""

from click import Context, NoSuchOption
from typer.core import TyperCommand

from mooring.errors import ConfigError

MOST = 3  # keys that are proposed


class TakesSettings(TyperCommand):
    """A verb whose arguments are settings, key=value."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """An option that there is not may be a setting; if it is none either, the option is what is told."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except NoSuchOption as error:
            told = as_setting(error.option_name, words)
            if told is None:
                raise
            raise ConfigError([told]) from None


def as_setting(option: str, words: list[str]) -> str | None:
    """`--seed 3` -> what to write instead; None where no setting is called like this."""
    from mooring.config.settings import spelled

    keys = spelled(option.lstrip("-"))[:MOST]
    if not keys:
        return None
    value = value_of(option, words)
    *most, last = [f"{key}={value or '...'}" for key in keys]
    write = f"{', '.join(most)} or {last}" if most else last
    return f"{option}{f' {value}' if value else ''}: is a setting, not an option; write {write}"


def value_of(option: str, words: list[str]) -> str:
    """What stands behind the option, after a blank or an equals sign."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == option and not following.startswith("-"):
            return "" if "=" in following else following
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return ""
