"""`mooring data fetch`: a public data set from its official address to where runs look for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import Root, say
from mooring.errors import ConfigError, DataError, nearest

if TYPE_CHECKING:
    from mooring.events import Emit, Event


def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A public data set; `mooring data` lists them.")],
    root: Root = None,
) -> None:
    """Download a public data set, verified by its checksum; an interrupted download goes on where it was."""
    from mooring.data.catalogue import survey
    from mooring.fetch import OFFICIAL
    from mooring.fetch import fetch as bring

    if name not in OFFICIAL:
        raise ConfigError([f"{name!r}: is no public data set; {nearest(name, OFFICIAL)}"])
    with download_progress() as emit:
        folder = bring(OFFICIAL[name], root, emit)
    (info,) = (info for info in survey(root) if info.name == name)
    if not info.found:
        raise DataError(info.note)
    say(f"{name}: {info.train:,} training and {info.test:,} test images, {folder}")
    where = "" if root is None else f" data.root={root}"
    say(f"use it: mooring run data.source={name}{where}")


@contextmanager
def download_progress() -> Iterator["Emit"]:
    """A row for each file."""
    from mooring.cli.live import Row, live
    from mooring.events import Downloaded
    from mooring.wording import size

    with live() as display:
        rows: dict[str, Row] = {}

        def show(event: "Event") -> None:
            if not isinstance(event, Downloaded):
                return
            if event.file not in rows:
                row = rows[event.file] = display.add(Row(event.file))
                row.before = event.done
            row = rows[event.file]
            row.done, row.total = event.done, event.total
            of_all = "" if event.total is None else f" of {size(event.total)}"
            seconds = max(monotonic() - row.since, 1e-3)
            row.text = f"{size(event.done)}{of_all}, {size((event.done - row.before) / seconds)}/s"
            if event.resumed:
                display.say(f"{event.file}: goes on at {size(event.done)}")
            elif row.complete:
                display.note(f"{event.file}: {size(event.done)}")
            else:
                display.changed(row)

        yield show
