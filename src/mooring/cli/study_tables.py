"""What a study found, in the terminal."""

from collections import Counter
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from mooring.types import ANSWERS, CONFIRMED, REFUTED, UNSEEN

if TYPE_CHECKING:
    from mooring.record import StudyRecord

COLOURS: dict[str, str] = {CONFIRMED: "green", REFUTED: "red", UNSEEN: "yellow"}
WIDTH = 80


def summary(told: "StudyRecord") -> None:
    """In plain lines: what was run, what became of its main claims, and how many claims there are of each kind."""
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"Lab note {told.study} run again, scale {told.scale}: [bold]{told.title}[/bold]")
    indented(console, f"{len(told.runs)} runs on {told.ran}; methods {', '.join(told.methods)}")
    console.print(f"What was seen, mean ± standard deviation over seeds {', '.join(map(str, told.seeds))}:")
    for row in told.highlights:
        colour = COLOURS[row.verdict]
        console.print(f"{row.says}: [{colour}]{row.verdict}[/{colour}]")
        indented(console, row.measured)
    counts = Counter(row.verdict for row in told.verdicts)
    console.print(f"Of {len(told.verdicts)} claims: {', '.join(f'{counts[word]} {word}' for word in ANSWERS)}.")


def indented(console: Console, text: str) -> None:
    """In the width of a terminal; `0.4 ± 0.1` and `n = 3` stay in one piece."""
    for line in wrap(text.replace(" ± ", "\xa0±\xa0").replace(" = ", "\xa0=\xa0"), WIDTH - 2):
        console.print("  " + line.replace("\xa0", " "), markup=False)


def verdicts_table(told: "StudyRecord") -> None:
    """One line per claim: what was measured, the verdict, the reason."""
    table = Table(pad_edge=False, show_lines=True)
    for heading in ("claim", "the note says", "measured", "verdict"):
        table.add_column(heading)
    for row in told.verdicts:
        colour = COLOURS[row.verdict]
        table.add_row(row.claim, row.documented, row.measured, f"[{colour}]{row.verdict}[/{colour}]")
    Console().print(table)
