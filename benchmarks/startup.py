"""How long it takes until something happens."""

import json
import subprocess
import sys
from dataclasses import dataclass
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, time

from benchmarks.table import Goal, Say, Table

TURNS = 2
IMPORTED_TWICE = "the process that forks workers imports torch while the run does, and each takes longer than one alone"
MAIN = "from mooring.cli import program; program()"


def measure(say: Say) -> Table:
    helped = median(seconds(MAIN, "--help") for _ in range(TURNS))
    imported = median(seconds("import torch") for _ in range(TURNS))
    say(f"mooring --help: {helped:.1f} s; import torch: {imported:.1f} s")
    rows: list[tuple[object, ...]] = [("`mooring --help`", helped, ""), ("`python -c 'import torch'`", imported, "")]
    first: dict[int, float] = {}
    for workers in (1, 2):
        turns = [until_first_step(workers) for _ in range(TURNS)]
        step = first[workers] = median(turn.step for turn in turns)
        own = median(turn.step - turn.loaded for turn in turns)
        rows.append((f"a digits run, {workers} worker{'s' * (workers > 1)}: the first step has ended", step, own))
        say(f"{workers} workers: first step after {step:.1f} s")
    begins = [median(turn.starts[number] for turn in turns) for number in range(2)]
    about = (
        "From the start of `mooring run` to the end of a client's first step; last column without loading Python, "
        f"torch and data. Medians of {TURNS}."
    )
    goals = [
        Goal("first step with 1 worker, over importing torch", 1.5, first[1] / imported, True),
        Goal("second worker at work, over the first", 1.02, begins[1] / begins[0], True),
        Goal("first step with 2 workers, over 1 worker", 1.0, first[2] / first[1], True, IMPORTED_TWICE),
    ]
    return Table("Start-up", about, ("what", "seconds", "of them after loading"), rows, goals)


def seconds(program: str, *arguments: str) -> float:
    began = monotonic()
    subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True)
    return monotonic() - began


@dataclass(frozen=True)
class Timeline:
    """Seconds since the start of `mooring run`, as `--events` tells them."""

    loaded: float  # torch is imported, the data is divided
    starts: tuple[float, ...]  # of the clients, in their order
    step: float  # the first epoch, which is one step, has ended


def until_first_step(workers: int) -> Timeline:
    with TemporaryDirectory() as folder:
        settings = ["method=v12", "training.batch_size=2048", "training.rounds=1", "training.local_epochs=1"]
        words = ["run", *settings, f"engine.workers={workers}", f"out={folder}/run", "--events"]
        began = time()
        told = subprocess.run([sys.executable, "-c", MAIN, *words], check=True, capture_output=True, text=True).stderr
    seen: dict[str, list[float]] = {}
    for line in told.splitlines():
        event = json.loads(line)
        seen.setdefault(event["event"], []).append(event["time"] - began)
    return Timeline(seen["partition"][0], tuple(seen["start"]), seen["epoch"][0])
