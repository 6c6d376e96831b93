"""The terminal: a report as text on a console, its tables as wide as the terminal allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from mooring.record import write_atomically
from mooring.reports._section import Report, Section, Tone
from mooring.reports._table import Cell, Table, cell_text
from mooring.wording import printable

TONE_COLOURS: dict[Tone, str] = {"good": "green", "bad": "red", "open": "yellow"}
WIDTH = 100  # of a file
NARROWEST = 12  # columns that text needs at least
LONG_WORD = 13  # columns of a heading that is not broken: `95 % interval`
MOST_BLOCKS = 3  # of columns, one below the other
FOLD: Literal["fold"] = "fold"  # long text continues on the next line
NUMERIC = tuple("0123456789+-±<>–.")


def write_terminal(report: Report, out: Path) -> None:
    """The same as plain text in a file."""
    text = StringIO()
    show_report(report, Console(file=text, width=WIDTH, markup=False, emoji=False, highlight=False))
    write_atomically(out, text.getvalue().encode())


def show_report(report: Report, console: Console) -> None:
    """Title, headline numbers, answers and verdicts, then every section with its tables; figures are left out."""
    show(console, report.title, "bold")
    show(console, report.subtitle, "dim")
    for card in report.cards:
        show(console, f"  {card.value}  {card.label}{f' ({card.detail})' if card.detail else ''}")
    for subject, lines in report.subjects.items():
        show(console, subject.capitalize(), "bold")
        for line in lines:
            parts = (f"{line.badge}: {line.text}", line.quote, line.detail, line.rule, line.why)
            show(console, "; ".join(part for part in parts if part), TONE_COLOURS[line.tone])
    show(console, " ".join(report.story))
    for answer in report.answers:
        text = f"{answer.question}: {answer.text}".replace("\n", "\n  ")
        show(console, text, TONE_COLOURS[answer.tone])
        if answer.command:
            console.print(Text(f"  {printable(answer.command)}"), soft_wrap=True)
    for section in report.sections:
        show_section(section, console)


def show_section(section: Section, console: Console) -> None:
    console.print()
    show(console, section.title, "bold cyan")
    show(console, section.lead)
    for table in section.tables:
        console.print()
        show(console, table.title, "bold")
        show_table(table, console)
    for title, text in section.texts:
        console.print()
        show(console, title, "bold")
        show(console, text)


def show_table(table: Table, console: Console) -> None:
    """Without its title."""
    show_tables([table], console, titles=False)


def show_tables(tables: Sequence[Table], console: Console, titles: bool = True) -> None:
    """One below the other, each under its title; neighbours with the same columns share their widths."""
    for _, same in groupby(tables, lambda table: table.columns):
        together = list(same)
        columns = [TableColumn.of(together, at) for at in range(len(together[0].columns))]
        blocks = blocks_of(columns, console.width)
        if len(blocks) > MOST_BLOCKS:
            show(console, f"{together[0].title}: {len(columns)} columns are too wide for this terminal", "dim")
            blocks = []
        for at, block in enumerate(blocks):
            if at:
                console.print()
            widths = widths_of(block, console.width)
            for number, table in enumerate(together):
                if number:
                    console.print()
                if titles:
                    show(console, table.title, "bold cyan")
                console.print(grid_of(table, block, widths, console.width, headed=not number), highlight=True)
        for note in dict.fromkeys(table.note for table in together if table.note):
            console.print()
            show(console, note, "dim")


@dataclass(frozen=True)
class TableColumn:
    """Where it stands in its table, its heading and how wide it is."""

    at: int
    heading: str
    width: int
    is_text: bool  # folded if it must be; the rest are numbers and stand to the right

    @classmethod
    def of(cls, tables: Sequence[Table], at: int) -> "TableColumn":
        cells = [row[at] for table in tables for row in table.rows]
        content = max((cell_len(line) for cell in cells for line in cell_text(cell).split("\n")), default=0)
        is_text = at == 0 or not all(map(is_numeric, cells))
        lines = heading_lines(tables[0].columns[at], max(content, LONG_WORD))
        return cls(at, "\n".join(lines), max([content, *map(cell_len, lines)]), is_text)

    @property
    def least(self) -> int:
        return min(self.width, NARROWEST) if self.is_text else self.width


def heading_lines(name: str, width: int) -> list[str]:
    """As it is broken already, or between words."""
    if "\n" in name:
        return list(map(printable, name.split("\n")))
    return wrap(printable(name), width, break_long_words=False) or [""]


def blocks_of(columns: Sequence[TableColumn], width: int) -> list[list[TableColumn]]:
    """Columns that fit side by side; every block begins with the first column, which names the rows."""
    first, *others = columns
    blocks = [[first]]
    for column in others:
        if sum(one.least + 1 for one in blocks[-1]) + column.least > width and len(blocks[-1]) > 1:
            blocks.append([first])
        blocks[-1].append(column)
    return blocks


def widths_of(columns: Sequence[TableColumn], width: int) -> list[int]:
    """Numbers keep theirs; text shares what is left."""
    needed = sum(column.width for column in columns) + len(columns) - 1
    texts = sum(column.is_text for column in columns)
    less = -(-max(needed - width, 0) // max(texts, 1))
    return [max(column.width - less, column.least) if column.is_text else column.width for column in columns]


def grid_of(table: Table, columns: Sequence[TableColumn], widths: Sequence[int], width: int, headed: bool) -> Grid:
    """Tables below each other have the same widths, and the first has the headings."""
    gap = 2 if sum(widths) + 2 * len(widths) - 2 <= width else 1
    heads = (
        Column(
            column.heading,
            justify="left" if column.is_text else "right",
            no_wrap=not column.is_text,
            overflow=FOLD,
            width=own,
        )
        for column, own in zip(columns, widths, strict=True)
    )
    grid = Grid(*heads, box=None, pad_edge=False, padding=(0, gap, 0, 0), show_header=headed)
    for row in range(len(table.rows)):
        grid.add_row(*(shown_cell(table, row, column.at) for column in columns))
    return grid


def shown_cell(table: Table, row: int, column: int) -> Text | str:
    text = cell_text(table.rows[row][column])
    return Text(text, "bold") if (row, column) in table.bold else text


def is_numeric(cell: Cell) -> bool:
    """A number, or text that begins like one: `0.834-0.903`, `46 kB`."""
    return not isinstance(cell, str) or not cell or cell.startswith(NUMERIC)


def show(console: Console, text: str, style: str = "") -> None:
    """Text as it is: nothing in it is markup or steers the terminal."""
    if text:
        console.print(Text("\n".join(map(printable, text.split("\n"))), style))
