"""The same FedAvg by mooring and by Flower's simulation, each a program from its start to its end."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from benchmarks.images import write_images
from benchmarks.table import Goal, Say, Table

MAIN = "from mooring.cli import program; program()"
STILL = "{crop: 1, flip: 0, jitter: 0, grey: 0}"
SAME_WORK = [f"method.client.views.augment={STILL}", "evaluate.clients=none"]
PLAIN, CHANNELS_LAST, SAME = "Flower's simulation", "Flower's simulation, channels last", "mooring, the same work"
FLOWER_WAY = "import sys; from benchmarks.flower_way import main; main(sys.argv[1:])"


@dataclass(frozen=True)
class Work:
    """One round: so many images in equal shares, so many passes over them."""

    images: int
    test: int
    epochs: int
    clients: tuple[int, ...]
    turns: int


FULL = Work(images=2_000, test=10_000, epochs=10, clients=(5, 50), turns=3)
QUICK = Work(images=200, test=500, epochs=1, clients=(5,), turns=1)


def measure(say: Say, work: Work = FULL) -> Table:
    rows: list[tuple[object, ...]] = []
    goals = []
    for clients in work.clients:
        with TemporaryDirectory() as folder:
            data = Path(folder) / "images.npz"
            write_images(data, [work.images // clients] * clients, work.test)
            turns: dict[str, list[float]] = {}
            for turn in range(work.turns):
                for way, command in ways(data, clients, work, f"{folder}/{turn}").items():
                    turns.setdefault(way, []).append(seconds(command))
                    say(f"{clients} clients, {way}: {turns[way][-1]:.1f} s")
        taken = {way: median(each) for way, each in turns.items()}
        rows += [(clients, way, took, taken[PLAIN] / took) for way, took in taken.items()]
        goals.append(Goal(f"Flower / ours, the same work, {clients} clients", 2.0, taken[PLAIN] / taken[SAME]))
    about = (
        f"`fedavg-1`, {work.images:,} colour images (32 x 32), ResNet-8, {work.epochs} epochs, {work.test:,} test "
        f"images. Seconds of a whole program, medians of {work.turns}. Flower (`benchmarks/flower_way.py`) and "
        '"the same work" have no augmentation and evaluate the average only; `mooring` is a run with its defaults.'
    )
    columns = ("clients", "way", "seconds", "times as fast as Flower")
    return Table("Flower's simulation", about, columns, rows, goals)


def ways(data: Path, clients: int, work: Work, out: str) -> dict[str, list[str]]:
    """What is measured, and the command of each."""
    return {
        PLAIN: flower(data, clients, work, "plain"),
        CHANNELS_LAST: flower(data, clients, work, "channels-last"),
        SAME: [*mooring(data, work, f"{out}-same"), *SAME_WORK],
        "mooring": mooring(data, work, f"{out}-run"),
    }


def mooring(data: Path, work: Work, out: str) -> list[str]:
    settings = ["data.source=arrays", f"data.root={data}", "partition.kind=sites", "model.kind=resnet8"]
    training = ["method=fedavg-1", "training.rounds=1", f"training.local_epochs={work.epochs}", f"out={out}"]
    return [sys.executable, "-c", MAIN, "run", *settings, *training]


def flower(data: Path, clients: int, work: Work, layout: str) -> list[str]:
    return [sys.executable, "-c", FLOWER_WAY, str(data), str(clients), str(work.epochs), layout]


def seconds(command: list[str]) -> float:
    began = monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return monotonic() - began
