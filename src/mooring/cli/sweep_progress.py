"""How far a sweep is: a bar for all of it, one for each run that is going on, and what ended last."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from mooring.cli.accuracies import accuracy_with_interval
from mooring.cli.arguments import plural, say
from mooring.cli.clock import TimeLeft
from mooring.cli.terminal import Screen
from mooring.events import ClientRecord, Emit, Event, PartitionDrawn, RunEnded, SweepBegan, SweepWaits

if TYPE_CHECKING:
    from mooring.config import Plan
    from mooring.sweep import Member


@contextmanager
def overview(plan: "Plan", out: Path, silent: bool) -> Iterator[Emit]:
    """An emitter that shows what happens for as long as the block lasts."""
    if silent:
        yield lambda _: None
    elif sys.stderr.isatty():
        with SweepBars(plan, out) as shown:
            yield shown.show
    else:
        yield SweepLines(plan, out).show


def all_members(plan: "Plan", out: Path) -> "dict[str, Member]":
    """By name; a search knows its runs only as it goes."""
    from mooring.sweep.members import members_of
    from mooring.sweep.search import read_trials

    return {member.name: member for member in members_of(replace(plan, trials=read_trials(out, plan.search)), out)}


def ending(member: "Member", reason: str) -> str:
    """One line about a run that has ended."""
    result = member.result
    images = member.trained.test_images if member.trained else None
    said = reason or ("" if result is None else f"accuracy {accuracy_with_interval(result.metrics.accuracy, images)}")
    return f"{member.name}: {said}"


class SweepLines:
    """For logs and pipes: a line per run that ends."""

    def __init__(self, plan: "Plan", out: Path) -> None:
        self.plan, self.out = plan, out
        self.members: dict[str, Member] = {}
        self.ended = self.runs = 0

    def show(self, event: Event) -> None:
        match event:
            case SweepBegan(runs=runs, finished=finished):
                self.members = all_members(self.plan, self.out)
                self.ended, self.runs = finished, runs
                say(f"{finished} of {runs} runs finished earlier" if finished else plural(runs, "run"), err=True)
            case RunEnded(name=name, reason=reason):
                self.ended += 1
                say(f"{self.ended} of {self.runs}  {ending(self.members[name], reason)}", err=True)


class SweepBars:
    """For people: bars that fit any terminal, because only runs that are going on have one."""

    def __init__(self, plan: "Plan", out: Path) -> None:
        self.plan, self.out = plan, out
        self.members: dict[str, Member] = {}
        self.ended: set[str] = set()
        self.tasks: dict[str, TaskID] = {}
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}", markup=False),
            TimeLeft(),
            console=Screen(stderr=True),
        )
        self.whole = self.progress.add_task(f"sweep {out.name}", total=None, unit="runs")

    def __enter__(self) -> "SweepBars":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        for task in self.tasks.values():
            self.progress.remove_task(task)
        self.progress.stop()

    def show(self, event: Event) -> None:
        match event:
            case SweepBegan():
                self.members = all_members(self.plan, self.out)
                self.ended = {name for name, member in self.members.items() if member.finished}
                self.progress.update(self.whole, total=len(self.members), completed=len(self.ended))
            case SweepWaits():
                self._look()
            case RunEnded(name=name, reason=reason):
                self.ended.add(name)
                self.progress.console.print(ending(self.members[name], reason))
                if name in self.tasks:
                    self.progress.remove_task(self.tasks.pop(name))
                self.progress.update(self.whole, completed=len(self.ended))

    def _look(self) -> None:
        """Runs that have begun: how many of their clients' rounds are done."""
        from mooring.record import RunFolder

        for name, member in self.members.items():
            folder = RunFolder(member.folder)
            if name in self.ended or not member.trains or not folder.begun:
                continue
            events = [timed.event for timed in folder.events]
            rounds = {(event.client, event.round) for event in events if isinstance(event, ClientRecord)}
            drawn = [event.summary for event in events if isinstance(event, PartitionDrawn)]
            if drawn and name not in self.tasks:
                total = sum(map(bool, drawn[0].sizes)) * member.experiment.training.rounds
                self.tasks[name] = self.progress.add_task(f"  {name}", total=total, unit="rounds of clients")
            if drawn:
                self.progress.update(self.tasks[name], completed=len(rounds))
