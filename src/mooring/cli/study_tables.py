"""What a study found, in the terminal."""

from textwrap import wrap
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mooring.cli.screen import Screen
from mooring.notes import CONFIRMED, NOT_RUN, REFUTED, UNSEEN, verdict_counts

if TYPE_CHECKING:
    from mooring.notes import StudyRecord

COLOURS: dict[str, str] = {CONFIRMED: "green", REFUTED: "red", UNSEEN: "yellow", NOT_RUN: "yellow"}
WIDTH = 80


def summary(record: "StudyRecord") -> None:
    """In plain lines: what was run, what became of its main claims, and how many claims there are of each kind."""
    console = Screen(soft_wrap=True)
    console.print(Text.assemble(f"Lab note {record.study} run again, scale {record.scale}: ", (record.title, "bold")))
    indented(console, f"{len(record.runs)} runs on {record.ran}; methods {', '.join(record.methods)}")
    console.print(f"What was seen, mean ± standard deviation over seeds {', '.join(map(str, record.seeds))}:")
    if record.tested:
        console.print(f"(accuracies on {record.tested})")
    for row in record.highlights:
        console.print(Text.assemble(f"{row.says}: ", (row.verdict, COLOURS[row.verdict])))
        indented(console, row.measured)
    for line in wrap(f"Of {len(record.verdicts)} claims: {verdict_counts(record)}.", WIDTH):
        console.print(line)


def indented(console: Screen, text: str) -> None:
    """In the width of a terminal; `0.4 ± 0.1` and `n = 3` stay in one piece."""
    for line in wrap(text.replace(" ± ", "\xa0±\xa0").replace(" = ", "\xa0=\xa0"), WIDTH - 2):
        console.print("  " + line.replace("\xa0", " "))


def verdicts_table(record: "StudyRecord") -> None:
    """One line per claim: what was measured, the verdict, the reason."""
    table = Table(pad_edge=False, show_lines=True)
    for heading in ("claim", "the note says", "measured", "verdict"):
        table.add_column(heading)
    for row in record.verdicts:
        table.add_row(row.claim, row.documented, row.measured, Text(row.verdict, COLOURS[row.verdict]))
    Screen(highlight=True).print(table)
