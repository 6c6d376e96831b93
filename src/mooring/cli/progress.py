"""What happens in a run, or in a site's training, as rows and lines of the live display."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Literal

from mooring.cli.live import Display, LiveRow, live
from mooring.events import (
    ClientFailed,
    ClientProgress,
    ClientRecord,
    ClientResumed,
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
    RunInterrupted,
    RunResumed,
    ServerProgress,
    SnapshotFused,
)
from mooring.wording import accuracy_text, plural, round_number, round_of

if TYPE_CHECKING:
    from mooring.config import Experiment

FEW = 3  # clients that are named one by one
MANY = 16  # with more clients than this, they share one bar

Audience = Literal["nobody", "programs", "people"]
Unit = Literal["step", "image"]


@contextmanager
def run_progress(experiment: "Experiment", audience: Audience) -> Iterator[Emit]:
    """An emitter that shows what happens in a run for as long as the block lasts."""
    if audience == "programs":
        yield write_event
        return
    with live(silent=audience == "nobody") as display:
        yield RunProgress(experiment, display)


def write_event(event: Event) -> None:
    """One line of JSON on standard error, as `events.jsonl` has it, for every event."""
    from mooring.record import event_line

    sys.stderr.write(event_line(event, time()))
    sys.stderr.flush()


@dataclass
class TrainingProgress:
    """How much of all clients' training is done: before this process began, and by it."""

    clients: int = 0
    ended_before: int = 0
    going_on: dict[int, float] = field(default_factory=dict)  # clients begun before: their share at their first event
    shares: dict[int, float] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)  # of each client's training, in steps

    def resumed(self, event: RunResumed) -> None:
        self.ended_before, self.going_on = event.done, {at.client: 0.0 for at in event.on_the_way}

    def heard(self, event: ClientStarted | ClientProgress | ClientRecord) -> None:
        """Some engines report no progress; then a client's records say how far it is."""
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
    def before(self) -> float:
        """The part of `done` that an earlier process did."""
        return self.ended_before + sum(self.going_on.values())

    @property
    def ended(self) -> int:
        return self.ended_before + sum(1 for share in self.shares.values() if share >= 1)


class RunProgress:
    """A row for the run and one for each client that trains, with its loss and lambda; the fused accuracy as news."""

    def __init__(self, experiment: "Experiment", display: Display) -> None:
        self.name, self.display = experiment.label, display
        self.rounds, self.unit = rounds_of(experiment), unit_of(experiment)
        self.run = display.add(LiveRow(self.name, text="starting"))
        self.rows: dict[int, LiveRow] = {}
        self.trained = TrainingProgress()
        self.sites: tuple[str, ...] = ()

    def __call__(self, event: Event) -> None:
        match event:
            case PartitionDrawn(sites=sites, summary=summary):
                self.trained.clients, self.sites = sum(1 for size in summary.sizes if size), sites
                held = plural(sum(summary.sizes), "image")
                self.display.say(f"{self.name}: {plural(self.trained.clients, 'client')} with {held}")
                self.run.begin(self.trained.clients)
                self._advance()
            case RunResumed():
                self.trained.resumed(event)
                self.display.say(f"{self.name}: {resumed(event, self.rounds, self.sites, self.unit)}")
                self._advance()
            case ClientStarted() | ClientRecord():
                self.trained.heard(event)
                self._advance()
            case ClientProgress():
                self.trained.heard(event)
                self._show_client(event)
                self._advance()
            case ImagesRead():
                self.run.text = reading(event)
                self.display.changed(self.run)
            case ServerProgress(what=what, step=step, steps=steps):
                self.run.text = f"{what} {step / steps:.0%}"
            case FusionBegan(round=at):
                self.run.text = f"fusing {round_of(at, self.rounds)}"
            case SnapshotFused():
                self.display.note(f"{self.name}: {fused(event, self.rounds)}")
                self._advance()
        if line := warning(event, self.sites):
            self.display.say(line, "yellow")

    def _advance(self) -> None:
        trained = self.trained
        self.run.done, self.run.before = trained.done, trained.before
        self.run.text = f"{trained.ended}/{trained.clients} clients"
        self.display.changed(self.run)

    def _show_client(self, event: ClientProgress) -> None:
        client = event.client
        if self.trained.clients > MANY:
            return
        if client not in self.rows:
            row = self.rows[client] = self.display.add(LiveRow(site_of(client, self.sites), level=1))
            row.begin(event.steps, event.step)
        row = self.rows[client]
        loss = "" if event.base_loss is None else f"  task loss {event.base_loss:.2f}"
        pull = "" if event.lambda_felt is None else f"  lambda {event.lambda_felt:.3g}"
        row.done, row.text = event.step, f"{round_of(event.round, self.rounds)}{loss}{pull}"
        if self.unit == "image":
            row.text = images_done(event)
        if row.complete:
            self.display.remove(self.rows.pop(client))


def rounds_of(experiment: "Experiment") -> int:
    """1 for a method that trains nothing."""
    return experiment.training.rounds if experiment.method.client.terms else 1


def resumed(event: RunResumed, rounds: int, sites: Sequence[str], unit: Unit = "step") -> str:
    """goes on: 2 of 5 clients are done, client 4 goes on in round 3 of 10 after 120 steps, 2 begin"""
    parts = [clients_done(event)]
    if len(event.on_the_way) <= FEW:
        within = {at: f"in {round_of(at.round, rounds)} " if unit == "step" else "" for at in event.on_the_way}
        parts += [
            f"{site_of(at.client, sites)} goes on {within[at]}after {plural(at.step, unit)}" for at in event.on_the_way
        ]
    elif unit == "image":
        parts.append(f"{len(event.on_the_way):,} go on")
    else:
        first, last = min(at.round for at in event.on_the_way), max(at.round for at in event.on_the_way)
        where = (
            round_of(first, rounds)
            if first == last
            else f"rounds {round_number(first)} to {round_number(last)} of {rounds}"
        )
        parts.append(f"{len(event.on_the_way):,} go on in {where}")
    left = event.clients - event.done - len(event.on_the_way)
    return f"goes on: {', '.join(parts)}" + (f", {left:,} {'begins' if left == 1 else 'begin'}" if left > 0 else "")


def kept(event: RunResumed, sites: Sequence[str], unit: Unit) -> str:
    """kept: 2 of 5 clients are done, client 4 after 1,240 images"""
    parts = [clients_done(event)]
    begun = [at for at in event.on_the_way if at.step]
    if len(begun) <= FEW:
        parts += [f"{site_of(at.client, sites)} after {plural(at.step, unit)}" for at in begun]
    else:
        parts.append(f"{len(begun):,} on their way")
    return f"kept: {', '.join(parts)}"


def kept_at_site(interrupt: RunInterrupted, unit: Unit) -> str:
    """kept: 1,240 images of north;"""
    (site,) = interrupt.sites
    steps = [f"kept: {plural(at.step, unit)} of {site}; " for at in interrupt.kept.on_the_way if at.step]
    return "".join(steps) or "nothing was saved yet; "


def clients_done(event: RunResumed) -> str:
    return f"{event.done:,} of {plural(event.clients, 'client')} {'is' if event.done == 1 else 'are'} done"


def unit_of(experiment: "Experiment") -> Unit:
    """What a client does one after the other: steps if it trains, otherwise images."""
    return "step" if experiment.method.client.terms else "image"


def fused(event: SnapshotFused, rounds: int) -> str:
    """round 2 of 10: accuracy 87.2 % (95 % CI 83.4-90.3 %, 360 images)"""
    accuracy = "unknown" if event.accuracy is None else accuracy_text(event.accuracy, event.images)
    return f"{round_of(event.round, rounds) if rounds > 1 else 'fused'}: accuracy {accuracy}"


@contextmanager
def show_reading() -> Iterator[None]:
    """Lines about the reading of images, for commands without a row of their own."""
    from mooring.data import reading_progress

    def show(event: Event) -> None:
        if isinstance(event, ImagesRead):
            print(reading(event), file=sys.stderr, flush=True)

    with reading_progress(show):
        yield


def images_done(event: ClientProgress) -> str:
    return f"{event.step:,} of {event.steps:,} images"


def reading(event: ImagesRead) -> str:
    return f"reading images: {event.done:,} of {event.files:,}"


def site_of(client: int, sites: Sequence[str]) -> str:
    """The name of its site, if it is known."""
    return sites[client] if client < len(sites) else f"client {client}"


def warning(event: Event, sites: Sequence[str] = ()) -> str | None:
    """One line about a client that cannot take part, or about a problem that the doctor expects."""
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


@contextmanager
def site_progress(site: str, silent: bool, unit: Unit) -> Iterator[Emit]:
    """An emitter for `mooring train`."""
    with live(silent, transient=True) as display:
        row = display.add(LiveRow(site))

        def show(event: Event) -> None:
            match event:
                case ImagesRead():
                    row.text = reading(event)
                    display.note(row.text)
                case Remark(text=text):
                    display.say(f"warning: {text}", "yellow")
                case ClientResumed(round=at, step=step):
                    where = f", in round {round_number(at)}" if unit == "step" else ""
                    display.say(f"{site}: goes on after {plural(step, unit)}{where}")
                case ClientProgress(round=at, step=step, steps=steps):
                    if row.total is None:
                        row.begin(steps, step)
                    row.done, row.text = step, images_done(event) if unit == "image" else f"round {round_number(at)}"
                    display.changed(row)

        yield show
