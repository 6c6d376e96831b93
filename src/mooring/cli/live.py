"""The live display: rows with done, total and text, shown as bars in a terminal and as lines elsewhere."""

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Literal

from mooring.cli.arguments import say
from mooring.wording import clock, duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType
    from rich.live import Live
    from rich.table import Table

    from mooring.cli.screen import Screen

FIRST, BETWEEN = 2.0, 10.0  # seconds before the first line, and between two lines, where there are no bars
BAR = 24  # columns
TIME = 9  # columns of `59 s left`


@dataclass
class LiveRow:
    """How far one piece of work is."""

    name: str
    total: float | None = None  # None: unknown
    done: float = 0.0
    text: str = ""
    before: float = 0.0  # the part of `done` that an earlier process did; it says nothing about the speed
    level: int = 0  # 1 for a part of the row above it, which has a bar and no lines
    time: Literal["left", "so far"] = "left"  # "so far" if the parts differ too much for a forecast
    since: float = field(default_factory=monotonic)

    @property
    def share(self) -> float | None:
        return None if not self.total else min(self.done / self.total, 1.0)

    @property
    def complete(self) -> bool:
        return self.share == 1.0

    @property
    def seconds_left(self) -> float | None:
        """If the rest goes on as fast as this process has worked so far."""
        gained = self.done - self.before
        if self.total is None or self.complete or gained <= 0:
            return None
        return (monotonic() - self.since) * (self.total - self.done) / gained

    def begin(self, total: float, done: float = 0.0) -> None:
        """The total is known: the work begins now."""
        self.total, self.done, self.before, self.since = total, done, done, monotonic()


class Display:
    """What a command shows on standard error while it works; this one shows nothing (`--quiet` and `--json`)."""

    def add(self, row: LiveRow) -> LiveRow:
        return row

    def remove(self, row: LiveRow) -> None: ...

    def changed(self, row: LiveRow) -> None:
        """A row has moved on."""

    def say(self, line: str, style: str = "") -> None:
        """A line that stays."""

    def note(self, line: str) -> None:
        """The latest news: one line below the bars, which the next one replaces."""


@contextmanager
def live(silent: bool = False, transient: bool = False) -> Iterator[Display]:
    """A display for as long as the block lasts; a transient one leaves nothing in the terminal but its lines."""
    if silent:
        yield Display()
    elif sys.stderr.isatty():
        with LiveBars(transient) as bars:
            yield bars
    else:
        with Lines() as lines:
            yield lines


class Lines(Display):
    """For logs and pipes: news at once, progress every ten seconds."""

    def __init__(self) -> None:
        self.last_line = monotonic() - BETWEEN + FIRST
        self.timers: list[Timer] = []

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *_: object) -> None:
        for timer in self.timers:
            timer.cancel()

    def add(self, row: LiveRow) -> LiveRow:
        """Work without a forecast may never report a change: it is named if it takes longer than two seconds."""
        if row.time == "so far":
            timer = Timer(FIRST, self.changed, [row])
            timer.daemon = True
            timer.start()
            self.timers.append(timer)
        return row

    def changed(self, row: LiveRow) -> None:
        if row.level or row.complete or monotonic() - self.last_line < BETWEEN:
            return
        if line := progress_line(row):
            self.say(line)

    def say(self, line: str, style: str = "") -> None:
        self.last_line = monotonic()
        say(line, err=True)

    def note(self, line: str) -> None:
        self.say(line)


class LiveBars(Display):
    """For people in a terminal."""

    def __init__(self, transient: bool = False) -> None:
        self.transient = transient
        self.rows: list[LiveRow] = []
        self.news = ""
        self.shown: Live | None = None

    def __enter__(self) -> "LiveBars":
        from mooring.cli.screen import Screen

        self.shown = redrawn(self.frame, Screen(stderr=True), self.transient)
        self.shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        """The first row stays, and every other one that is complete."""
        self.rows = [row for row in self.rows if row is self.rows[0] or row.complete]
        if self.shown is not None:
            self.shown.stop()

    def add(self, row: LiveRow) -> LiveRow:
        self.rows.append(row)
        return row

    def remove(self, row: LiveRow) -> None:
        self.rows = [other for other in self.rows if other is not row]

    def say(self, line: str, style: str = "") -> None:
        if self.shown is not None:
            self.shown.console.print(line, style=style or None)

    def note(self, line: str) -> None:
        self.news = line

    def frame(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        return Group(bars(self.rows), *([Text(self.news)] if self.news else []))


def redrawn(
    frame: "Callable[[], RenderableType]", console: "Screen", transient: bool = False, per_second: float = 10
) -> "Live":
    """A part of the terminal that is drawn anew from `frame`, again and again."""
    from rich.live import Live

    return Live(get_renderable=frame, console=console, transient=transient, refresh_per_second=per_second)


def bars(rows: Sequence[LiveRow]) -> "Table":
    """Name, bar, percentage, text and time of each row; in a narrow terminal the bars get shorter."""
    from rich.progress_bar import ProgressBar
    from rich.table import Column, Table
    from rich.text import Text

    times = [time_text(row) for row in rows]
    name, percent, text = (Column(no_wrap=True) for _ in range(3))
    time = Column(no_wrap=True, min_width=TIME if any(times) else None, justify="right")
    grid = Table.grid(name, Column(), percent, text, time, padding=(0, 1))
    for row, shown_time in zip(rows, times, strict=True):
        total = row.total or 100.0
        bar = ProgressBar(total, min(row.done, total), BAR, pulse=row.total is None, animation_time=monotonic())
        share = "" if row.share is None else f"{row.share:>4.0%}"
        grid.add_row(f"{'  ' * row.level}{row.name}", bar, share, row.text, Text(shown_time, "cyan"))
    return grid


def time_text(row: LiveRow) -> str:
    """`9 s left`, `11 s so far`; nothing while it is unknown."""
    if row.time == "so far":
        return f"{clock(monotonic() - row.since)} so far"
    return "" if row.seconds_left is None else f"{clock(row.seconds_left)} left"


def progress_line(row: LiveRow) -> str:
    """`v7: 25%, 1/5 clients, about 30 seconds left`; nothing while nothing is known."""
    if row.time == "so far":
        return f"{row.name}: {row.text}" if row.text else f"{row.name} ..."
    if row.share is None or row.seconds_left is None:
        return ""
    parts = (f"{row.share:.0%}", row.text, f"about {duration(row.seconds_left)} left")
    return f"{row.name}: {', '.join(part for part in parts if part)}"


@contextmanager
def working(what: str, silent: bool = False) -> Iterator[None]:
    """Show what is being done: at once and with the time in a terminal, elsewhere as a line after two seconds."""
    with live(silent, transient=True) as display:
        display.add(LiveRow(what, time="so far"))
        yield


@contextmanager
def getting_ready() -> Iterator[None]:
    """Around imports that take seconds: a row in a terminal, nothing elsewhere."""
    with without_collections(), live(silent=not sys.stderr.isatty(), transient=True) as display:
        display.add(LiveRow("getting ready", time="so far"))
        yield


@contextmanager
def without_collections() -> Iterator[None]:
    """Without garbage collection, importing torch is a quarter of a second faster."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()  # imported modules are never collected
