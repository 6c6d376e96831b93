"""Plain text: Markdown with headline, verdicts and every table; one CSV file per table, its numbers in full."""

import re
from pathlib import Path

from mooring.cells import printable
from mooring.record import write_atomically
from mooring.reports.section import Report, Section, SummaryAnswer, VerdictLine
from mooring.reports.table import Table, csv_text, shown


def write_csv(report: Report, out: Path) -> None:
    for table in report.tables:
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
    verdicts = "\n".join(map(verdict, report.verdicts))
    parts = [*head, story, "\n".join(cards), asked, verdicts, *map(section, report.sections)]
    return "\n\n".join(part for part in parts if part) + "\n"


def answer(told: SummaryAnswer) -> str:
    command = f" {code(told.command)}" if told.command else ""
    return f"- **{told.question}**: {inline(told.text)}{command}"


def verdict(told: VerdictLine) -> str:
    quote = f" 「{inline(told.quote)}」" if told.quote else ""
    detail = f" ({inline(told.detail)})" if told.detail else ""
    rule = f" Rule: {inline(told.rule)}." if told.rule else ""
    why = f" Why: {inline(told.why)}" if told.why else ""
    return f"- **{told.badge}**: {inline(told.text)}{quote}{detail}{rule}{why}"


def section(told: Section) -> str:
    texts = [f"### {inline(title)}\n\n{fenced(text, 'yaml')}" for title, text in told.texts]
    return "\n\n".join([f"## {told.title}", told.lead, *map(table, told.tables), *texts])


def table(told: Table) -> str:
    rule = "| " + " | ".join(["---"] * len(told.columns)) + " |"
    rows = ([marked(told, i, j) for j in range(len(row))] for i, row in enumerate(told.rows))
    lines = [line([inline(name) for name in told.columns]), rule, *map(line, rows)]
    note = ["", inline(told.note)] if told.note else []
    return "\n".join([f"### {inline(told.title)}", "", *lines, *note])


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def marked(told: Table, row: int, column: int) -> str:
    """A cell; in bold where it is the best and that is settled."""
    text = inline(shown(told.rows[row][column]))
    return f"**{text}**" if (row, column) in told.bold else text


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
