"""Live progress: a bar per running client in a terminal, a line per fused round elsewhere."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic, time
from typing import TYPE_CHECKING, Literal

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.text import Text

from mooring.cli.accuracies import accuracy_with_interval
from mooring.cli.arguments import duration, plural, round_of, say
from mooring.cli.clock import TimeLeft
from mooring.cli.terminal import Screen
from mooring.events import (
    ClientFailed,
    ClientProgress,
    ClientRecord,
    ClientStarted,
    ClientStarved,
    Emit,
    Event,
    FeaturesChosen,
    Forecast,
    FusionBegan,
    ImagesRead,
    PartitionDrawn,
    Remark,
    RunResumed,
    ServerProgress,
    SnapshotFused,
)

if TYPE_CHECKING:
    from mooring.config import Experiment

PATIENCE = 10.0  # seconds between two lines, where there is no bar
FEW = 3  # clients that are named one by one
MANY = 16  # clients beyond which one bar stands for all


Telling = Literal["nothing", "events", "people"]  # who sees progress: `events` for programs, as JSON


@contextmanager
def watching(experiment: "Experiment", telling: Telling) -> Iterator[Emit]:
    """An emitter that shows what happens for as long as the block lasts."""
    if telling == "nothing":
        yield lambda _: None
    elif telling == "events":
        yield tell_program
    elif sys.stderr.isatty():
        with ClientBars(experiment) as bars:
            yield bars.show
    else:
        yield RunLines(experiment).show


def tell_program(event: Event) -> None:
    """One line of JSON on standard error, as `events.jsonl` has it; events that only tell how far something is too."""
    from mooring.record import event_line

    sys.stderr.write(event_line(event, time()))
    sys.stderr.flush()


@dataclass
class TrainingProgress:
    """How much of all clients' training is done: before this process began, and by it."""

    clients: int = 0
    ended_before: int = 0
    going_on: dict[int, float] = field(default_factory=dict)  # clients begun before: their share at their first word
    shares: dict[int, float] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)  # of each client's training, in steps

    def resumed(self, event: RunResumed) -> None:
        self.ended_before, self.going_on = event.done, {at.client: 0.0 for at in event.on_the_way}

    def heard(self, event: ClientStarted | ClientProgress | ClientRecord) -> None:
        """How far a client is; its record says so too, where an engine tells nothing before a client has ended."""
        match event:
            case ClientStarted(client=client, steps=steps):
                self.lengths[client] = steps
            case ClientProgress(client=client, step=step, steps=steps):
                self._reached(client, step / steps)
            case ClientRecord(client=client, steps=None):  # it trains nothing
                self._reached(client, 1.0)
            case ClientRecord(client=client, steps=int() as steps) if self.lengths.get(client):
                self._reached(client, steps / self.lengths[client])

    def _reached(self, client: int, share: float) -> None:
        if client in self.going_on and client not in self.shares:
            self.going_on[client] = share
        self.shares[client] = share

    @property
    def done(self) -> float:
        """In clients."""
        return self.ended_before + sum(self.shares.values())

    @property
    def gained(self) -> float:
        """Of that, what this process has done."""
        return sum(self.shares.values()) - sum(self.going_on.values())

    @property
    def ended(self) -> int:
        return self.ended_before + sum(1 for share in self.shares.values() if share >= 1)


class RunLines:
    """For logs and pipes: plain lines on standard error, one in ten seconds while clients train."""

    def __init__(self, experiment: "Experiment") -> None:
        self.name = experiment.label
        self.rounds = experiment.training.rounds if experiment.method.client.terms else 1
        self.trained = TrainingProgress()
        self.sites: tuple[str, ...] = ()
        self.begun = self.last_message = monotonic()

    def show(self, event: Event) -> None:
        line = warning(event, self.sites)
        match event:
            case PartitionDrawn(sites=sites, summary=summary):
                self.trained.clients, self.sites = sum(1 for size in summary.sizes if size), sites
                holders = plural(self.trained.clients, "client")
                line = f"{self.name}: {holders} with {plural(sum(summary.sizes), 'image')}"
                self.begun = self.last_message = monotonic()
            case RunResumed():
                self.trained.resumed(event)
                line = f"{self.name}: {resumed(event, self.rounds, self.sites)}"
            case ClientStarted() | ClientProgress() | ClientRecord():
                self.trained.heard(event)
                line = self._far()
            case SnapshotFused():
                line = f"{self.name}: {fused(event, self.rounds)}"
            case ImagesRead():
                line = reading(event)
        if line:
            say(line, err=True)

    def _far(self) -> str | None:
        now, trained = monotonic(), self.trained
        left = trained.clients - trained.done
        if now - self.last_message < PATIENCE or left <= 0 or trained.gained <= 0:
            return None
        self.last_message = now
        still = duration((now - self.begun) * left / trained.gained)
        return f"{self.name}: training {trained.done / trained.clients:.0%}, about {still} left"


class BarsAbove(Progress):
    """Bars, and one line of text below them."""

    below = ""

    def get_renderables(self) -> Iterator[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        if self.below:
            yield Text(self.below, overflow="ellipsis", no_wrap=True)


class ClientBars:
    """For people: how far each client is, its loss and its lambda; the fused accuracy below."""

    def __init__(self, experiment: "Experiment") -> None:
        self.name = experiment.label
        self.rounds = experiment.training.rounds if experiment.method.client.terms else 1
        self.progress = BarsAbove(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[facts]}", markup=False),
            TimeLeft(),
            console=Screen(stderr=True),
        )
        self.whole = self.progress.add_task(self.name, total=None, facts="starting")
        self.tasks: dict[int, TaskID] = {}
        self.trained = TrainingProgress()
        self.sites: tuple[str, ...] = ()

    def __enter__(self) -> "ClientBars":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        for task in self.tasks.values():
            self.progress.remove_task(task)
        self.progress.stop()

    def show(self, event: Event) -> None:
        match event:
            case PartitionDrawn(sites=sites, summary=summary):
                self.trained.clients, self.sites = sum(1 for size in summary.sizes if size), sites
                self.progress.update(self.whole, total=self.trained.clients)
                self._refresh()
            case RunResumed():
                self.trained.resumed(event)
                self._refresh()
                self.progress.console.print(f"{self.name}: {resumed(event, self.rounds, self.sites)}")
            case ClientStarted() | ClientRecord():
                self.trained.heard(event)
                self._refresh()
            case ClientProgress():
                self._advance(event)
            case ImagesRead():
                self.progress.update(self.whole, facts=reading(event))
            case ServerProgress(what=what, step=step, steps=steps):
                self.progress.update(self.whole, facts=f"{what} {step / steps:.0%}")
            case FusionBegan(round=at):
                self.progress.update(self.whole, facts=f"fusing {round_of(at, self.rounds)}")
            case SnapshotFused():
                self.progress.below = fused(event, self.rounds)
                self._refresh()
        if line := warning(event, self.sites):
            self.progress.console.print(line, style="yellow")

    def _advance(self, event: ClientProgress) -> None:
        client = event.client
        self.trained.heard(event)
        self._refresh()
        if self.trained.clients > MANY:
            return
        if client not in self.tasks:
            self.tasks[client] = self.progress.add_task(f"  {site_of(client, self.sites)}", total=event.steps, facts="")
        facts = round_of(event.round, self.rounds)
        facts += "" if event.base_loss is None else f"  task loss {event.base_loss:.2f}"
        facts += "" if event.lambda_felt is None else f"  lambda {event.lambda_felt:.3g}"
        self.progress.update(self.tasks[client], completed=event.step, facts=facts)
        if event.step == event.steps:
            self.progress.remove_task(self.tasks.pop(client))

    def _refresh(self) -> None:
        trained = self.trained
        self.progress.update(self.whole, completed=trained.done, facts=f"{trained.ended}/{trained.clients} clients")


def resumed(event: RunResumed, rounds: int, sites: Sequence[str]) -> str:
    """goes on: 2 of 5 clients are done, client 4 goes on in round 3 (last: 9) after 120 steps, 2 begin"""
    parts = [f"{event.done:,} of {plural(event.clients, 'client')} {'is' if event.done == 1 else 'are'} done"]
    if len(event.on_the_way) <= FEW:
        parts += [
            f"{site_of(at.client, sites)} goes on in {round_of(at.round, rounds)} after {plural(at.step, 'step')}"
            for at in event.on_the_way
        ]
    else:
        first, last = min(at.round for at in event.on_the_way), max(at.round for at in event.on_the_way)
        where = round_of(first, rounds) if first == last else f"rounds {first} to {last} (last: {rounds - 1})"
        parts.append(f"{len(event.on_the_way):,} go on in {where}")
    left = event.clients - event.done - len(event.on_the_way)
    return f"goes on: {', '.join(parts)}" + (f", {left:,} {'begins' if left == 1 else 'begin'}" if left > 0 else "")


def fused(event: SnapshotFused, rounds: int) -> str:
    """round 1 (last: 9): accuracy 0.872 (95 % 0.834-0.903, 360 images)"""
    accuracy = "unknown" if event.accuracy is None else accuracy_with_interval(event.accuracy, event.images)
    return f"{round_of(event.round, rounds) if rounds > 1 else 'fused'}: accuracy {accuracy}"


def reading_lines(event: Event) -> None:
    """For commands without a bar of their own."""
    match event:
        case ImagesRead():
            print(reading(event), file=sys.stderr, flush=True)


def reading(event: ImagesRead) -> str:
    return f"reading images: {event.done:,} of {event.files:,}"


def site_of(client: int, sites: Sequence[str]) -> str:
    """The name of its site, where that is known."""
    return sites[client] if client < len(sites) else f"client {client}"


def warning(event: Event, sites: Sequence[str] = ()) -> str | None:
    """One line about a client that cannot take part, or about what the doctor sees coming."""
    match event:
        case Forecast(text=text, client=client, remedy=remedy):
            where = "" if client is None else f"{site_of(client, sites)} "
            return f"warning: {where}{text}" + (f" (try {remedy})" if remedy else "")
        case Remark(text=text):
            return f"warning: {text}"
        case FeaturesChosen(features=features, track=track, reason=reason):
            return f"features: {features} ({track}): {reason}"
        case ClientFailed(problem=problem, remedy=remedy):
            return f"warning: {problem}; {remedy}"
        case ClientStarved(client=client, reason=reason):
            return f"warning: {site_of(client, sites)}: {reason}"
    return None
