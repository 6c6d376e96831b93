"""Plain text: Markdown with headline, verdicts and every table; one CSV file per table, its numbers in full."""

import re
from pathlib import Path

from mooring.record import write_atomically
from mooring.reports._section import Report, Section, SummaryAnswer, VerdictLine
from mooring.reports._table import Table, cell_text, csv_text
from mooring.wording import printable


def write_csv(report: Report, out: Path) -> None:
    for table in report.all_tables:
        write_atomically(out / f"{table.slug}.csv", csv_text(table).encode())


def write_markdown(report: Report, out: Path) -> None:
    write_atomically(out, markdown(report).encode())


def markdown(report: Report) -> str:
    command = fenced(report.command, "text") if report.command else ""
    head = [f"# {inline(report.title)}", inline(report.subtitle), command]
    cards = [
        f"- **{inline(c.value)}** {inline(c.label)}{f' ({inline(c.detail)})' if c.detail else ''}" for c in report.cards
    ]
    story = " ".join(map(inline, report.story))
    asked = "\n".join(map(answer, report.answers))
    verdicts = "\n\n".join(
        f"**{subject.capitalize()}**\n\n" * bool(subject) + "\n".join(map(verdict, lines))
        for subject, lines in report.subjects.items()
    )
    parts = [*head, "\n".join(cards), verdicts, story, asked, *map(section, report.sections)]
    return "\n\n".join(part for part in parts if part) + "\n"


def answer(part: SummaryAnswer) -> str:
    command = f" {code(part.command)}" if part.command else ""
    lines = " ".join(part.text.splitlines())
    return f"- **{part.question}**: {inline(lines)}{command}"


def verdict(line: VerdictLine) -> str:
    quote = f" 「{inline(line.quote)}」" if line.quote else ""
    detail = f" ({inline(line.detail)})" if line.detail else ""
    rule = f" Rule: {inline(line.rule)}." if line.rule else ""
    why = f" Why: {inline(line.why)}" if line.why else ""
    return f"- **{line.badge}**: {inline(line.text)}{quote}{detail}{rule}{why}"


def section(part: Section) -> str:
    texts = [f"### {inline(title)}\n\n{fenced(text, 'yaml')}" for title, text in part.texts]
    return "\n\n".join([f"## {part.title}", part.lead, *map(markdown_table, part.tables), *texts])


def markdown_table(grid: Table) -> str:
    rule = "| " + " | ".join(["---"] * len(grid.columns)) + " |"
    rows = ([marked(grid, i, j) for j in range(len(row))] for i, row in enumerate(grid.rows))
    lines = [markdown_row([inline(name) for name in grid.columns]), rule, *map(markdown_row, rows)]
    note = ["", inline(grid.note)] if grid.note else []
    return "\n".join([f"### {inline(grid.title)}", "", *lines, *note])


def markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def marked(grid: Table, row: int, column: int) -> str:
    """A cell; in bold where it is the best and that is settled."""
    text = inline(cell_text(grid.rows[row][column]))
    return f"**{text}**" if (row, column) in grid.bold else text


def code(text: str) -> str:
    """A command between as many backquotes as it does not hold."""
    fence = "`" * (1 + max([0, *map(len, re.findall("`+", text))]))
    plain = printable(text).replace("\n", " ")
    return f"{fence} {plain} {fence}" if "`" in plain else f"{fence}{plain}{fence}"


def inline(text: str) -> str:
    """Text that is neither markup nor a new cell."""
    return re.sub(r"([\\|*_<>`\[\]])", r"\\\1", printable(text)).replace("\n", " ")


def fenced(text: str, language: str) -> str:
    """Text as it stands, between fences that it does not hold."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}{language}\n{printable(text).rstrip()}\n{fence}"
