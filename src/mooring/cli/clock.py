"""Times beside bars, with a word that says which: `9 s left`, `11 s so far`."""

from rich.progress import ProgressColumn, Task
from rich.table import Column
from rich.text import Text


class TimeLeft(ProgressColumn):
    """The last column of bars, never cut: `9 s left`, `1:20 left`; nothing as long as nobody knows."""

    max_refresh = 0.5  # seconds between two looks

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True, min_width=9, justify="right"))

    def render(self, task: Task) -> Text:
        left = task.time_remaining if task.total is not None and not task.finished else None
        return Text("" if left is None else f"{clock(left)} left", "progress.remaining")


class ElapsedColumn(ProgressColumn):
    """`11 s so far`"""

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))

    def render(self, task: Task) -> Text:
        return Text(f"{clock(task.elapsed or 0.0)} so far", "progress.elapsed")


def clock(seconds: float) -> str:
    """`9 s`, `1:20`, `2:05:00`"""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    if hours:
        return f"{hours}:{minutes:02d}:{whole % 60:02d}"
    return f"{minutes}:{whole % 60:02d}" if minutes else f"{whole} s"
