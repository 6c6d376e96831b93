"""What happens in a sweep, or while many rules fuse one run, as rows and lines of the live display."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from mooring.cli.live import Display, LiveRow, live
from mooring.cli.progress import reading, rounds_of
from mooring.events import (
    ClientRecord,
    Emit,
    Event,
    ImagesRead,
    PartitionDrawn,
    Remark,
    RunEnded,
    ServerProgress,
    SweepBegan,
    SweepWaits,
)
from mooring.wording import accuracy_text, duration, plural

if TYPE_CHECKING:
    from mooring.config import Plan
    from mooring.record import FusionRecord
    from mooring.sweeps import Member


@contextmanager
def sweep_progress(plan: "Plan", out: Path, silent: bool) -> Iterator[Emit]:
    with live(silent) as display:
        yield SweepProgress(plan, out, display)


class SweepProgress:
    """A row for the sweep, one for each run that is going on, and a line for each that ends."""

    def __init__(self, plan: "Plan", out: Path, display: Display) -> None:
        self.plan, self.out, self.display = plan, out, display
        self.members: dict[str, Member] = {}
        self.ended: set[str] = set()
        self.rows: dict[str, LiveRow] = {}
        self.sweep = display.add(LiveRow(f"sweep {out.name}", text="starting"))

    def __call__(self, event: Event) -> None:
        match event:
            case SweepBegan(runs=runs, finished=finished):
                from mooring.sweeps import planned_members

                self.members = {member.name: member for member in planned_members(self.plan, self.out)}
                self.ended = {name for name, member in self.members.items() if member.finished}
                self.sweep.begin(runs, finished)
                self._advance()
                self.display.say(f"{finished} of {runs} runs finished earlier" if finished else plural(runs, "run"))
            case SweepWaits():
                self._look()
            case RunEnded(name=name, reason=reason):
                self.ended.add(name)
                self.sweep.done += 1
                if name in self.rows:
                    self.display.remove(self.rows.pop(name))
                self._advance()
                text = reason or accuracy_of(self.members[name])
                self.display.say(f"{self.sweep.done:.0f} of {self.sweep.total:.0f}  {name}: {text}")

    def _advance(self) -> None:
        self.sweep.text = f"{self.sweep.done:.0f}/{self.sweep.total:.0f} runs"
        self.display.changed(self.sweep)

    def _look(self) -> None:
        """Runs that have begun: how many of their clients' rounds are done."""
        for name, member in self.members.items():
            if name in self.ended or (reached := rounds_reached(member)) is None:
                continue
            done, total = reached
            if name not in self.rows:
                self.rows[name] = self.display.add(LiveRow(name, level=1))
                self.rows[name].begin(total, done)
            row = self.rows[name]
            row.done, row.text = done, f"{done}/{total} rounds of clients"


def rounds_reached(member: "Member") -> tuple[int, int] | None:
    """Rounds of clients that are done, and how many there are; None before the run has drawn its partition."""
    from mooring.record import RunFolder

    folder = RunFolder(member.folder)
    if not member.trains or not folder.begun:
        return None
    events = [timed.event for timed in folder.events]
    clients = [sum(map(bool, event.summary.sizes)) for event in events if isinstance(event, PartitionDrawn)]
    if not clients:
        return None
    done = {(event.client, event.round) for event in events if isinstance(event, ClientRecord)}
    return len(done), clients[-1] * rounds_of(member.experiment)


def accuracy_of(member: "Member") -> str:
    """`accuracy 87.2 % (95 % CI 83.4-90.3 %, 360 images)`; empty while there is no result."""
    result = member.result
    return "" if result is None else f"accuracy {accuracy_text(result.metrics.accuracy, result.test_images)}"


@contextmanager
def fusion_progress(rules: int, silent: bool) -> Iterator["FusionProgress"]:
    with live(silent, transient=True) as display:
        yield FusionProgress(display, rules)


class FusionProgress:
    """An emitter that says which rule is being fused, and how far it is if it trains at the server."""

    def __init__(self, display: Display, rules: int) -> None:
        self.display, self.rules = display, rules
        self.row = display.add(LiveRow("fusing", rules, text="opening the run", time="so far"))
        self.begun, self.rule, self.since = 0, "", monotonic()
        self.remarks: list[str] = []

    def begin(self, rule: str, trains: bool) -> None:
        self.begun += 1
        self.rule, self.since = rule, monotonic()
        self.row.done = self.begun - 1
        self._show(rule)
        if trains:
            self.display.say(f"{rule} trains at the server, which takes longer; Ctrl-C keeps what is fused", "dim")

    def end(self, row: "FusionRecord") -> None:
        from mooring.fusion import head_cells

        accuracy = accuracy_text(row.accuracy, row.test_images)
        name = row.fusion if row.head is None else head_cells(row.head)["head"]
        self._say(f"{name}: {accuracy} in {monotonic() - self.since:.1f} s")
        for remark in self.remarks:
            self.display.say(remark, "dim")
        self.remarks = []

    def skip(self, reason: str) -> None:
        self._say(f"{self.rule}: left out, {reason.removeprefix(f'fusion={self.rule}: ')}")

    def _say(self, line: str) -> None:
        self.display.say(f"{self.begun} of {self.rules}  {line}", "dim")

    def _show(self, text: str) -> None:
        self.row.text = f"{self.begun}/{self.rules} rules, {text}" if self.begun else text
        self.display.changed(self.row)

    def __call__(self, event: Event) -> None:
        match event:
            case ServerProgress(step=step, steps=steps):
                share = step / steps
                self.row.done = self.begun - 1 + share
                self._show(f"{self.rule} {share:.0%}, {time_left(monotonic() - self.since, share)}")
            case ImagesRead():
                self._show(reading(event))
            case Remark(text=text):
                self.remarks.append(text)  # shown once the rule is fused; if it fails, the error says why
                self._show(text)


def time_left(seconds: float, share: float) -> str:
    """How long it still takes, from how long it took so far."""
    return f"about {duration(seconds * (1 - share) / share)} left" if 0 < share < 1 else "nearly done"
