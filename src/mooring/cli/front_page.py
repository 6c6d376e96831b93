"""`mooring --help`: every verb in its group on one screen of 80 x 24, two columns of plain text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import typer
from click import Context, HelpFormatter
from typer.core import TyperGroup

WIDTH = 80  # below it the two columns stand one under the other
COLUMN = 39


@dataclass(frozen=True)
class VerbGroup:
    """Verbs that belong together, each with a few words; `mooring VERB --help` has the rest."""

    title: str
    verbs: dict[str, str]

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """What stands in bold, and what behind it."""
        return ((self.title, ""), *((f"  {verb:<9}", f" {words}") for verb, words in self.verbs.items()))


class FrontPage(TyperGroup):
    """A group of commands whose help is one screen."""

    about: ClassVar[str]
    left: ClassVar[Sequence[VerbGroup]]
    right: ClassVar[Sequence[VerbGroup]]
    footer: ClassVar[str]

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Plain words; what is bold in a terminal is not in a pipe."""
        left, right = ([line for group in side for line in group.lines] for side in (self.left, self.right))
        shown = [bold(*line) for line in left + right]
        if formatter.width >= WIDTH - 2:  # click keeps two columns free
            longest = max(len(left), len(right))
            rows = zip(padded(left, longest), padded(right, longest), strict=True)
            shown = [
                f"{bold(*one)}{' ' * (COLUMN + 1 - len(''.join(one)))}{bold(*other)}".rstrip() for one, other in rows
            ]
        formatter.write("\n".join([self.about, *shown, self.footer]))


def padded(lines: list[tuple[str, str]], length: int) -> list[tuple[str, str]]:
    return lines + [("", "")] * (length - len(lines))


def bold(name: str, words: str) -> str:
    return f"{typer.style(name, bold=True)}{words}" if name else ""
