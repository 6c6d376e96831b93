"""What a study found, in the terminal."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from mooring.types import CONFIRMED, REFUTED, UNSEEN

COLOURS: dict[str, str] = {CONFIRMED: "green", REFUTED: "red", UNSEEN: "yellow"}


def verdicts_table(told: Mapping[str, Any]) -> None:
    """One line per claim: what was measured, the verdict, the reason."""
    table = Table(pad_edge=False, show_lines=True)
    for heading in ("claim", "the note says", "measured", "verdict"):
        table.add_column(heading)
    for row in told["verdicts"]:
        colour = COLOURS[row["verdict"]]
        table.add_row(row["claim"], row["documented"], row["measured"], f"[{colour}]{row['verdict']}[/{colour}]")
    console = Console()
    console.print(table)
    counts = Counter(row["verdict"] for row in told["verdicts"])
    seeds = ", ".join(map(str, told["seeds"]))
    console.print(f"study {told['study']}, scale {told['scale']}, seeds {seeds}: ", end="")
    console.print(", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()), highlight=False)
