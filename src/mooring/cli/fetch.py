"""`mooring data fetch`: a public data set from its official address to where runs look for it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import Root, say
from mooring.errors import ConfigError, DataError, nearest

if TYPE_CHECKING:
    from rich.progress import TaskID

    from mooring.events import Emit, Event

STEP = 0.1  # share of a file between two lines


def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="cifar10, cifar100, fashion_mnist or svhn.")],
    root: Root = None,
) -> None:
    """Download a public data set, verified by its checksum; an interrupted download goes on where it was."""
    from mooring.data.catalogue import survey
    from mooring.fetch import OFFICIAL
    from mooring.fetch import fetch as bring

    if name not in OFFICIAL:
        raise ConfigError([f"{name!r}: is no public data set; {nearest(name, OFFICIAL)}"])
    with watching() as emit:
        folder = bring(OFFICIAL[name], root, emit)
    (info,) = (info for info in survey(root) if info.name == name)
    if not info.found:
        raise DataError(info.note)
    say(f"{name}: {info.train:,} training and {info.test:,} test images, {folder}")
    where = "" if root is None else f" data.root={root}"
    say(f"use it: mooring run data.source={name}{where}")


@contextmanager
def watching() -> Iterator["Emit"]:
    """A bar in a terminal, some lines elsewhere."""
    from mooring.events import Downloaded

    if not sys.stderr.isatty():
        yield DownloadLines().show
        return
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from mooring.cli.terminal import Screen

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Screen(stderr=True)) as progress:
        tasks: dict[str, TaskID] = {}

        def show(event: "Event") -> None:
            if isinstance(event, Downloaded):
                if event.file not in tasks:
                    tasks[event.file] = progress.add_task(event.file, total=None)
                progress.update(tasks[event.file], completed=event.done, total=event.total)

        yield show


class DownloadLines:
    """For logs and pipes: a line at every tenth of a file, on standard error."""

    def __init__(self) -> None:
        self.reported: dict[str, float] = {}

    def show(self, event: "Event") -> None:
        from mooring.events import Downloaded
        from mooring.reports.table import size

        if not isinstance(event, Downloaded):
            return
        file, done, total = event.file, event.done, event.total
        if event.resumed:
            say(f"{file}: goes on at {size(done)}", err=True)
        elif total is not None and (done == total or done / total >= self.reported.get(file, 0.0) + STEP):
            self.reported[file] = done / total
            say(f"{file}: {size(done)} of {size(total)}", err=True)
