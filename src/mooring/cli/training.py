"""How far `mooring train` is: a bar in a terminal, lines elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn

from mooring.cli.arguments import say
from mooring.cli.clock import TimeLeft
from mooring.cli.progress import reading
from mooring.cli.terminal import Screen
from mooring.events import ClientProgress, ClientResumed, Emit, Event, ImagesRead


@contextmanager
def training(site: str, silent: bool) -> Iterator[Emit]:
    """An emitter that shows what happens for as long as the block lasts."""
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[facts]}", markup=False),
        TimeLeft(),
        console=Screen(stderr=True),
        transient=True,
        disable=silent or not sys.stderr.isatty(),
    )
    task = bar.add_task(site, total=None, facts="")

    def show(event: Event) -> None:
        match event:
            case ImagesRead():
                bar.update(task, facts=reading(event))
                line = reading(event)
            case ClientResumed(round=at, step=step):
                line = f"{site}: goes on after {step} steps, in round {at}"
            case ClientProgress(round=at, step=step, steps=steps):
                bar.update(task, completed=step, total=steps, facts=f"round {at}")
                line = ""
            case _:
                line = ""
        if line and bar.disable and not silent:
            say(line, err=True)

    with bar:
        yield show
