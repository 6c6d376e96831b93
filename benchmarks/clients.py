"""What a client costs beside its training: the same images among ever more clients."""

from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from time import monotonic

import torch

from benchmarks.process import apart, cpu_seconds
from benchmarks.table import Goal, Say, Table
from mooring import load, run_experiment
from mooring.data import FashionMnist, ImageSet
from mooring.events import ClientRecord, ClientStarted, Event

IMAGES = 20_000
CLIENTS = (5, 50, 500, 2_000)
FEW = 10


@dataclass(frozen=True)
class FewTests(FashionMnist):
    """Every client is evaluated alone on all test images: K x 10,000 passes that say nothing about the clients."""

    def test(self) -> ImageSet:
        return super().test().select(torch.arange(FEW))


def measure(say: Say) -> Table:
    rows: list[tuple[object, ...]] = []
    times, peaks = [], []
    for clients in CLIENTS:
        (wall, cpu), memory, _ = apart(federated, clients)
        times.append(cpu / IMAGES * 1e6)
        peaks.append(memory)
        each, clock = IMAGES // clients, wall / IMAGES * 1e6
        rows.append((clients, each, times[-1], clock, memory))
        say(f"{clients} clients: {times[-1]:.0f} us per sample, {memory:.0f} MB")
    about = (
        f"{IMAGES:,} Fashion-MNIST images in equal shares, one epoch, batch 10, `v12` with `parameter-average`, two "
        "workers. Processor time of all processes; peak memory of the parent."
    )
    columns = ("clients", "images each", "us per sample", "us by the clock", "parent MB")
    slow = "every client pays for its start, its upload and two files"
    large = "the server holds all uploads while it fuses them"
    goals = [
        Goal(f"time per sample, worst of K <= {CLIENTS[-2]}", 1.3, max(times[:-1]) / times[0], True, slow),
        Goal(f"time per sample, K = {CLIENTS[-1]}", 1.3, times[-1] / times[0], True, slow),
        Goal("peak memory of the parent, worst K", 1.2, max(peaks) / peaks[0], True, large),
    ]
    return Table("Clients: five to two thousand", about, columns, rows, goals)


def federated(clients: int) -> tuple[float, float]:
    """Seconds by the clock and of processor time that the clients took; runs in a process of its own."""
    marks: list[tuple[float, float]] = []
    trained = 0

    def watch(event: Event) -> None:
        """The first start and the last end alone: to ask for every process's time takes a while, too."""
        nonlocal trained
        trained += isinstance(event, ClientRecord)
        if (isinstance(event, ClientStarted) and not marks) or (isinstance(event, ClientRecord) and trained == clients):
            marks.append((monotonic(), cpu_seconds()))

    with TemporaryDirectory() as folder:
        (experiment,) = load(
            overrides=[
                *("data.source=fashion_mnist", "model.kind=digits_net", "method=v12", "fusion=parameter-average"),
                *("partition.kind=iid", f"partition.clients={clients}", "engine.workers=2", f"out={folder}/run"),
                *("training.batch_size=10", "training.rounds=1", "training.local_epochs=1"),
            ]
        )
        run_experiment(replace(experiment, data=FewTests(limit=IMAGES)), watch)
    (began, before), (ended, after) = marks
    return ended - began, after - before
