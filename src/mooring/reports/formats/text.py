"""Plain text: Markdown with headline, verdicts and every table; one CSV file per table, its numbers in full."""

import re
from pathlib import Path

from mooring.cells import printable
from mooring.record import write_atomically
from mooring.reports.section import Report, Section, VerdictLine
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
    parts = [*head, "\n".join(cards), "\n".join(map(verdict, report.verdicts)), *map(section, report.sections)]
    return "\n\n".join(part for part in parts if part) + "\n"


def verdict(told: VerdictLine) -> str:
    quote = f" 「{inline(told.quote)}」" if told.quote else ""
    detail = f" ({inline(told.detail)})" if told.detail else ""
    why = f" Why: {inline(told.why)}" if told.why else ""
    return f"- **{told.badge}**: {inline(told.text)}{quote}{detail}{why}"


def section(told: Section) -> str:
    texts = [f"### {inline(title)}\n\n{fenced(text, 'yaml')}" for title, text in told.texts]
    return "\n\n".join([f"## {told.title}", told.lead, *map(table, told.tables), *texts])


def table(told: Table) -> str:
    rows = [told.columns, ["---"] * len(told.columns), *([shown(cell) for cell in row] for row in told.rows)]
    lines = ["| " + " | ".join(map(inline, row)) + " |" for row in rows]
    note = ["", inline(told.note)] if told.note else []
    return "\n".join([f"### {inline(told.title)}", "", *lines, *note])


def inline(text: str) -> str:
    """Text that is neither markup nor a new cell."""
    return re.sub(r"([\\|*_<>`\[\]])", r"\\\1", printable(text)).replace("\n", " ")


def fenced(text: str, language: str) -> str:
    """Text as it stands, between fences that it does not hold."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}{language}\n{printable(text).rstrip()}\n{fence}"
