"""The console of all commands: text from files cannot control the terminal.

Names and messages may come from a folder of anybody. Control characters are spelled (`\\x1b`), `[red]` is a word in
brackets and `:cat:` no picture: what the house colours is `rich.text.Text`, never markup.
"""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from mooring.wording import printable


class Screen(Console):
    """A console on which text from files changes neither colours nor the cursor."""

    def __init__(self, stderr: bool = False, highlight: bool = False, soft_wrap: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=highlight, soft_wrap=soft_wrap, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Spelled before its width is measured."""
        return super().render_str(printable(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Colours and cursor moves are kept apart from text, which is all that others can write."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


def plain_table(*columns: str | Column, **options: Any) -> Table:
    """A table without lines, which starts at the left edge."""
    return Table(*columns, box=None, pad_edge=False, **options)
