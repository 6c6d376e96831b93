"""Live progress: a bar per running client in a terminal, a line per fused round elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from mooring.types import Emit, Event

if TYPE_CHECKING:
    from mooring.config import Experiment

TROUBLES = ("starved", "failed", "forecast", "bank", "damaged")
MANY = 16  # clients beyond which one bar stands for all


@contextmanager
def watching(experiment: "Experiment", silent: bool) -> Iterator[Emit]:
    """An emitter that shows what happens for as long as the block lasts."""
    if silent:
        yield lambda _: None
    elif sys.stderr.isatty():
        with Bars(experiment) as bars:
            yield bars.show
    else:
        yield Lines(experiment).show


@contextmanager
def fusing(rules: int, silent: bool) -> Iterator["Fusing"]:
    """How far `mooring fuse` is: a bar in a terminal, nothing elsewhere."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:.0f}/{task.total:.0f} rules"),
        TextColumn("{task.fields[facts]}"),
        console=Console(stderr=True),
        transient=True,
        disable=silent or not sys.stderr.isatty(),
    )
    with bar:
        yield Fusing(bar, bar.add_task("[bold]fusing", total=rules, facts=""))


class Fusing:
    """An emitter that moves the bar of `mooring fuse`."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self.bar = bar
        self.task = task
        self.begun = -1
        self.rule = ""

    def begin(self, rule: str) -> None:
        self.begun += 1
        self.rule = rule
        self.bar.update(self.task, completed=self.begun, facts=rule)

    def __call__(self, event: Event) -> None:
        fields: Any = event.fields
        if event.name == "server":
            share = fields["step"] / fields["steps"]
            self.bar.update(self.task, completed=self.begun + share, facts=f"{self.rule} {share:.0%}")


class Lines:
    """For logs and pipes: plain lines on standard error."""

    def __init__(self, experiment: "Experiment") -> None:
        self.name = experiment.label
        self.rounds = experiment.training.rounds if experiment.method.client.terms else 1

    def show(self, event: Event) -> None:
        fields: Any = event.fields
        if event.name == "fused":
            line = f"{self.name}: round {fields['round'] + 1}/{self.rounds}, accuracy {fields['accuracy']:.3f}"
            print(line, file=sys.stderr, flush=True)
        elif event.name in TROUBLES:
            print(trouble(event), file=sys.stderr, flush=True)


class Bars:
    """For people: how far each client is, its loss and its lambda; the fused accuracy below."""

    def __init__(self, experiment: "Experiment") -> None:
        self.name = experiment.label
        self.rounds = experiment.training.rounds if experiment.method.client.terms else 1
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[facts]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self.whole = self.progress.add_task(f"[bold]{escape(self.name)}", total=None, facts="starting")
        self.tasks: dict[int, TaskID] = {}
        self.done: dict[int, float] = {}
        self.clients = 0
        self.accuracy = ""

    def __enter__(self) -> "Bars":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        for task in self.tasks.values():
            self.progress.remove_task(task)
        self.progress.stop()

    def show(self, event: Event) -> None:
        fields: Any = event.fields
        if event.name == "partition":
            self.clients = sum(1 for size in fields["sizes"] if size)
            self.progress.update(self.whole, total=self.clients)
        elif event.name == "tick":
            self._tick(fields)
        elif event.name == "server":
            share = fields["step"] / fields["steps"]
            self.progress.update(self.whole, facts=f"{fields['what']} {share:.0%}")
        elif event.name == "fusing":
            self.progress.update(self.whole, facts=f"fusing round {fields['round'] + 1}/{self.rounds}")
        elif event.name == "fused":
            self.accuracy = f"accuracy {fields['accuracy']:.3f} after round {fields['round'] + 1}"
            self._refresh()
        elif event.name in TROUBLES:
            self.progress.console.print(trouble(event), style="yellow", highlight=False)

    def _tick(self, fields: Any) -> None:
        client = fields["client"]
        self.done[client] = fields["step"] / fields["steps"]
        self._refresh()
        if self.clients > MANY:
            return
        if client not in self.tasks:
            self.tasks[client] = self.progress.add_task(f"  client {client}", total=fields["steps"], facts="")
        facts = f"round {fields['round'] + 1}/{self.rounds}"
        facts += f"  loss {fields['base_loss']:.2f}" if "base_loss" in fields else ""
        facts += f"  lambda {fields['lambda']:.3g}" if "lambda" in fields else ""
        self.progress.update(self.tasks[client], completed=fields["step"], facts=facts)
        if fields["step"] == fields["steps"]:
            self.progress.remove_task(self.tasks.pop(client))

    def _refresh(self) -> None:
        ended = sum(1 for share in self.done.values() if share >= 1)
        facts = f"{ended}/{self.clients} clients  {self.accuracy}"
        self.progress.update(self.whole, completed=sum(self.done.values()), facts=facts)


def trouble(event: Event) -> str:
    """One line about a client that cannot take part, or about what the doctor sees coming."""
    fields: Any = event.fields
    if event.name == "forecast":
        where = "" if fields["client"] is None else f"client {fields['client']} "
        remedy = f" (try {fields['remedy']})" if fields["remedy"] else ""
        return f"warning: {where}{fields['text']}{remedy}"
    if event.name in ("bank", "damaged"):
        return f"warning: {fields['text']}"
    if event.name == "failed":
        return f"warning: {fields['problem']}; {fields['remedy']}"
    return f"warning: client {fields['client']}: {fields['reason']}"
