"""A study in the terminal: how far it is, and what it found."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from mooring.config.plan import Plan
from mooring.types import Emit, Event

COLOURS = {"confirmed": "green", "not confirmed": "red"}


def watching_sweep(silent: bool) -> Callable[[str, Plan, Path], AbstractContextManager[Emit]]:
    """One line per run that ends."""

    @contextmanager
    def watch(name: str, plan: Plan, out: Path) -> Iterator[Emit]:
        ended = 0
        runs = len(plan.points())

        def show(event: Event) -> None:
            nonlocal ended
            if event.name == "sweep":
                ended = int(str(event.fields["finished"]))
            if event.name != "member":
                return
            ended += 1
            problem = f": {event.fields['reason']}" if event.fields["reason"] else ""
            print(f"{name} {ended}/{runs}: {event.fields['name']}{problem}", file=sys.stderr, flush=True)

        yield (lambda _: None) if silent else show

    return watch


def verdicts_table(told: Mapping[str, Any]) -> None:
    """One line per claim: what was measured, the verdict, the reason."""
    table = Table(pad_edge=False, show_lines=True)
    for heading in ("claim", "the note says", "measured", "verdict"):
        table.add_column(heading)
    for row in told["verdicts"]:
        colour = COLOURS.get(row["verdict"], "yellow")
        table.add_row(row["claim"], row["documented"], row["measured"], f"[{colour}]{row['verdict']}[/{colour}]")
    console = Console()
    console.print(table)
    counts = Counter(row["verdict"] for row in told["verdicts"])
    seeds = ", ".join(map(str, told["seeds"]))
    console.print(f"study {told['study']}, scale {told['scale']}, seeds {seeds}: ", end="")
    console.print(", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()), highlight=False)
