"""What takes long says so, on standard error: a spinner with the seconds in a terminal, a line elsewhere."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from mooring.cli.arguments import say

PATIENCE = 2.0  # seconds for which people wait without a word


@contextmanager
def working(what: str, silent: bool = False) -> Iterator[None]:
    """While the block lasts, show what is being done and for how long."""
    if silent:
        yield
    elif sys.stderr.isatty():
        with spinning(what):
            yield
    else:
        timer = Timer(PATIENCE, say, [f"{what} ..."], {"err": True})
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


@contextmanager
def getting_ready() -> Iterator[None]:
    """Around imports that take seconds: a spinner in a terminal, nothing elsewhere."""
    with without_collections():
        if sys.stderr.isatty():
            with spinning("getting ready"):
                yield
        else:
            yield


@contextmanager
def without_collections() -> Iterator[None]:
    """Python looks for garbage hundreds of times while it imports torch, and finds none: a quarter of a second."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()  # modules stay until the end: nobody needs to look through them again


@contextmanager
def spinning(what: str) -> Iterator[None]:
    from rich.progress import Progress, SpinnerColumn, TextColumn

    from mooring.cli.clock import ElapsedColumn
    from mooring.cli.terminal import Screen

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), ElapsedColumn())
    with Progress(*columns, console=Screen(stderr=True), transient=True) as shown:
        shown.add_task(what, total=None)
        yield
