"""How fast the frozen encoder of `mooring` looks at images."""

import os
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, process_time

import torch

from benchmarks.images import write_images
from benchmarks.process import apart, memory_watched
from benchmarks.table import Goal, Say, Table
from mooring import load, run_experiment
from mooring.models import ENLARGED_SIDE, Blueprint, DigitsNet, EncoderFeatures, Linear

FAST, USUAL, SHARP = (
    EncoderFeatures("efficientnet-lite0", pixels=96),
    EncoderFeatures(pixels=ENLARGED_SIDE),
    EncoderFeatures(pixels=160),
)
COUNTS = {FAST: 512, USUAL: 256, SHARP: 128}  # images of a turn
TURNS = 3
MANY = 20_000  # images
CLIENTS, TEST = 5, 2_000
MINUTES, MIB = 5.0, 2048.0  # for so many of them
SMALL = (3, 32, 32)


def measure(say: Say) -> Table:
    cores = os.cpu_count() or 1
    rows: list[tuple[object, ...]] = []
    for encoder, count in COUNTS.items():
        images = torch.randint(0, 256, (count, *SMALL), dtype=torch.uint8)
        phi = encoder.build(Blueprint(DigitsNet(), Linear(), SMALL, ("a", "b"), (0.5,), (0.5,)))
        phi(images[:64])  # the session is made when it is first used

        def pass_over(phi: torch.nn.Module = phi, images: torch.Tensor = images) -> None:
            with torch.inference_mode():
                phi(images)

        by_core = count / timed(pass_over, 1, process_time)
        one, all_ = (count / timed(pass_over, threads, monotonic) for threads in (1, cores))
        rows.append((encoder.weights, encoder.pixels, by_core, all_, all_ / one, 2 * MANY / all_ / 60))
        told = f"{by_core:.0f} images for a second of one core, {all_:.0f} images/s by {cores} threads"
        say(f"{encoder.weights}, {encoder.pixels} pixels: {told}")
    about = (
        f"Images per second of {SMALL[1]} x {SMALL[2]} pixels, medians of {TURNS}; minutes for {MANY:,} images and "
        f"their mirror images. The default is {USUAL.weights} at {USUAL.pixels} pixels."
    )
    seconds, memory = apart(whole_run).value
    say(f"a whole run over {MANY:,} images: {seconds:.0f} s, {memory:.0f} MiB")
    columns = ("weights", "pixels", "per core second", f"{cores} threads", "speed-up", "minutes")
    whole = f"`mooring run` of {MANY:,} colour images by {CLIENTS} clients"
    goals = [
        Goal(f"minutes of {whole}, evaluation of {TEST:,} included", MINUTES, seconds / 60, True),
        Goal(f"MiB of {whole}, all processes together", MIB, memory, True),
    ]
    return Table("Encoder: images a second", about, columns, rows, goals)


def whole_run() -> tuple[float, float]:
    """Seconds, and MiB of this process and its workers; runs in a process of its own."""
    with TemporaryDirectory() as folder:
        data = Path(folder) / "images.npz"
        write_images(data, [MANY // CLIENTS] * CLIENTS, TEST)
        words = ["data.source=arrays", f"data.root={data}", "partition.kind=sites", f"out={folder}/run"]
        (experiment,) = load(overrides=words)
        with memory_watched() as largest:
            began = monotonic()
            run_experiment(experiment)
            return monotonic() - began, largest()


def timed(work: Callable[[], None], threads: int, clock: Callable[[], float]) -> float:
    """The median of several turns; the runtime's own threads are as many as torch has."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    turns = []
    for _ in range(TURNS):
        began = clock()
        work()
        turns.append(clock() - began)
    torch.set_num_threads(before)
    return median(turns)
