"""How long it takes until something happens."""

import subprocess
import sys
from contextlib import suppress
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from benchmarks.process import apart
from benchmarks.table import Say, Table
from mooring import load, run
from mooring.events import EpochRecord, Event, PartitionDrawn

TURNS = 2


class FirstStep(BaseException):
    """Seen enough; no error, which the run would explain."""


def measure(say: Say) -> Table:
    helped = median(help_seconds() for _ in range(TURNS))
    say(f"mooring --help: {helped:.1f} s")
    rows: list[tuple[object, ...]] = [("`mooring --help`", helped, "")]
    for workers in (1, 2):
        turns = [until_first_step(workers) for _ in range(TURNS)]
        step = median(turn for turn, _ in turns)
        rows.append((f"a digits run, {workers} worker{'s' * (workers > 1)}", step, median(own for _, own in turns)))
        say(f"{workers} workers: first step after {step:.1f} s")
    about = (
        "From a new process to the end of a client's first step, and how much of it is after Python, torch and the "
        f"data are loaded. A second worker is a second process that loads torch again. Medians of {TURNS}."
    )
    return Table("Start-up", about, ("what", "seconds", "of them after loading"), rows)


def help_seconds() -> float:
    began = monotonic()
    command = [sys.executable, "-c", "from mooring.cli import main; main()", "--help"]
    subprocess.run(command, check=True, capture_output=True)
    return monotonic() - began


def until_first_step(workers: int) -> tuple[float, float]:
    began = monotonic()
    (partition, step), *_ = apart(first_step, workers)
    return step - began, step - partition


def first_step(workers: int) -> tuple[float, float]:
    """When the data was divided, and when the first client had made the one step of its first epoch."""
    seen: dict[type[Event], float] = {}

    def watch(event: Event) -> None:
        seen.setdefault(type(event), monotonic())
        if isinstance(event, EpochRecord):
            raise FirstStep

    with TemporaryDirectory() as folder:
        settings = ["method=v12", "training.batch_size=2048", f"engine.workers={workers}", f"out={folder}/run"]
        (experiment,) = load(overrides=settings)
        with suppress(FirstStep):
            run(experiment, watch)
    return seen[PartitionDrawn], seen[EpochRecord]
