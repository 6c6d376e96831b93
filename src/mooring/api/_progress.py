"""Progress of a run from Python: one line that is written over."""

import sys
from pathlib import Path
from time import monotonic
from types import TracebackType

from mooring.config import Experiment
from mooring.events import (
    ClientProgress,
    ClientRecord,
    Emit,
    Event,
    ImagesRead,
    PartitionDrawn,
    RunEnded,
    SnapshotFused,
    SweepBegan,
)
from mooring.record import RunRecord
from mooring.track import Callback
from mooring.wording import duration, percent

PATIENCE, EVERY = 2.0, 0.5  # seconds until the first line, and between two


class ProgressLine(Callback):
    """`v12: 43 %, round 3 of 10 fused, accuracy 56.1 %`, on the error stream of a terminal or notebook."""

    def __init__(self) -> None:
        self.shown = is_watched()
        self.written = 0  # characters of the line

    def on_start(self, experiment: Experiment, folder: Path) -> None:
        self.label, self.rounds, self.next = experiment.label, experiment.training.rounds, monotonic() + PATIENCE
        self.done: dict[int, float] = {}  # client -> share of its steps
        self.clients, self.fused = 1, ""

    def on_event(self, event: Event) -> None:
        match event:
            case ImagesRead(done=done, files=files):
                self.fused = f", {done:,} of {files:,} images read"
            case PartitionDrawn(sites=sites, summary=summary):
                self.clients, self.fused = sum(1 for size in summary.sizes if size) or len(sites), ""
            case ClientProgress(client=client, step=step, steps=steps):
                self.done[client] = step / max(steps, 1)
            case ClientRecord(client=client, round=round_):
                self.done[client] = max(self.done.get(client, 0.0), (round_ + 1) / self.rounds)
            case SnapshotFused(round=round_, accuracy=accuracy):
                self.fused = f", round {round_ + 1} of {self.rounds} fused, accuracy {percent(accuracy)}"
        if self.shown and monotonic() >= self.next:
            self.next = monotonic() + EVERY
            self.write(f"{self.label}: {percent(sum(self.done.values()) / self.clients, 0)} trained{self.fused}")

    def on_end(self, run: RunRecord) -> None:
        if self.written:
            self.write("")

    def write(self, line: str) -> None:
        self.written = overwrite(line, self.written)


class SweepLine:
    """`sweep: 7 of 15 runs, 42 s`, on the error stream of a terminal or notebook; every event goes on to `emit`."""

    def __init__(self, emit: Emit, verbose: bool) -> None:
        self.emit, self.shown = emit, verbose and is_watched()
        self.began = self.last = monotonic()
        self.runs = self.ended = self.written = 0

    def __enter__(self) -> "SweepLine":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.written:
            overwrite("", self.written)

    def __call__(self, event: Event) -> None:
        match event:
            case SweepBegan(runs=runs, finished=finished):
                self.runs, self.ended = runs, finished
            case RunEnded():
                self.ended += 1
        now = monotonic()
        if self.shown and now - self.began > PATIENCE and now - self.last > EVERY:
            self.last = now
            self.written = overwrite(
                f"sweep: {self.ended} of {self.runs} runs, {duration(now - self.began)}", self.written
            )
        self.emit(event)


def is_watched() -> bool:
    """Does a person see the error stream?"""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def overwrite(line: str, written: int) -> int:
    """Replace the line of so many characters; how many this one has."""
    sys.stderr.write(f"\r{line.ljust(written)}{'' if line else chr(13)}")
    sys.stderr.flush()
    return len(line)
