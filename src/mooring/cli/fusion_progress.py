"""How far `mooring fuse RUN` is: which rule, what came out of those before, and how long one that trains will take."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from mooring.cli.accuracies import accuracy_with_interval
from mooring.cli.arguments import duration, say
from mooring.cli.clock import ElapsedColumn
from mooring.cli.progress import PATIENCE, reading
from mooring.cli.terminal import Screen
from mooring.events import Event, ImagesRead, Remark, ServerProgress
from mooring.fusion.cards import FUSION_CARDS

if TYPE_CHECKING:
    from mooring.fusion import Fusion
    from mooring.record import FusionRecord


@contextmanager
def fusing(rules: int, silent: bool) -> Iterator["Fusing"]:
    """A bar in a terminal, lines elsewhere."""
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:.0f}/{task.total:.0f} rules"),
        TextColumn("{task.fields[facts]}", markup=False),
        ElapsedColumn(),
        console=Screen(stderr=True),
        transient=True,
        disable=silent or not sys.stderr.isatty(),
    )
    with bar:
        yield Fusing(bar, bar.add_task("fusing", total=rules, facts="opening the run"), rules, silent)


class Fusing:
    """An emitter that says how far the rules are."""

    def __init__(self, bar: Progress, task: TaskID, rules: int, silent: bool) -> None:
        self.bar, self.task, self.rules = bar, task, rules
        self.lines = bar.disable and not silent
        self.begun, self.rule = 0, ""
        self.since = self.last_message = monotonic()

    def begin(self, rule: str) -> None:
        self.begun += 1
        self.rule = rule
        self.since = self.last_message = monotonic()
        self.bar.update(self.task, completed=self.begun - 1, facts=rule)
        if trains(rule):
            self.tell(f"{rule} trains at the server, which takes longer; Ctrl-C keeps what is fused")

    def end(self, row: "FusionRecord") -> None:
        took = f"{monotonic() - self.since:.1f} s"
        self.tell(
            f"{self.begun} of {self.rules}  {row.fusion}: "
            f"{accuracy_with_interval(row.accuracy, row.test_images)} in {took}"
        )

    def skip(self, reason: str) -> None:
        why = reason.removeprefix(f"fusion={self.rule}: ")
        self.tell(f"{self.begun} of {self.rules}  {self.rule}: left out, {why}")

    def tell(self, line: str) -> None:
        if self.lines:
            say(line, err=True)
        elif not self.bar.disable:
            self.bar.console.print(line, style="dim")

    def __call__(self, event: Event) -> None:
        match event:
            case ServerProgress(step=step, steps=steps):
                share = step / steps
                message = f"{self.rule} {share:.0%}, {left(monotonic() - self.since, share)}"
                self.bar.update(self.task, completed=self.begun - 1 + share, facts=message)
                if self.lines and monotonic() - self.last_message >= PATIENCE:
                    self.last_message = monotonic()
                    say(message, err=True)
            case ImagesRead():
                self.bar.update(self.task, facts=reading(event))
            case Remark(text=text) if not self.bar.disable:
                self.tell(text)


def left(seconds: float, share: float) -> str:
    """How long it still takes, from how long it took so far."""
    return f"about {duration(seconds * (1 - share) / share)} left" if 0 < share < 1 else "nearly done"


def trains(kind: str) -> bool:
    """Is this a rule that trains at the server?"""
    card = FUSION_CARDS.get(kind)
    return card is not None and card.trains_at_server


def cheap_first(rules: "Sequence[Fusion]") -> "list[Fusion]":
    """Those that train at the server come last; all others as they were."""
    return sorted(rules, key=lambda rule: trains(rule.kind))
