"""How fast the frozen encoder of `mooring` looks at images."""

import os
from collections.abc import Callable
from statistics import median
from time import monotonic, process_time

import torch

from benchmarks.table import Goal, Say, Table
from mooring.models.backbones import DigitsNet
from mooring.models.feature_maps import Encoder
from mooring.models.heads import Linear
from mooring.models.network import Blueprint

SIDES = ((96, 512), (128, 256), (224, 128))  # pixels, images of a turn
TURNS = 3
MANY = 20_000  # images
MINUTES = 5.0  # for so many of them
SMALL = (3, 32, 32)


def measure(say: Say) -> Table:
    cores = os.cpu_count() or 1
    rows: list[tuple[object, ...]] = []
    at_96 = 0.0
    for pixels, count in SIDES:
        images = torch.randint(0, 256, (count, *SMALL), dtype=torch.uint8)
        phi = Encoder(pixels=pixels).build(Blueprint(DigitsNet(), Linear(), SMALL, ("a", "b"), (0.5,), (0.5,)))
        phi(images[:64])  # the session is made when it is first used

        def pass_over(phi: torch.nn.Module = phi, images: torch.Tensor = images) -> None:
            with torch.inference_mode():
                phi(images)

        by_core = count / timed(pass_over, 1, process_time)
        one, all_ = (count / timed(pass_over, threads, monotonic) for threads in (1, cores))
        at_96 = at_96 or all_
        rows.append((pixels, by_core, one, all_, all_ / one, MANY / all_ / 60))
        say(f"{pixels} pixels: {by_core:.0f} images for a second of one core, {all_:.0f} images/s by {cores} threads")
    about = (
        f"EfficientNet-Lite0 with the layers of `mooring`, images of {SMALL[1]} x {SMALL[2]} pixels brought to so many "
        "a side, one view (where mirrored images count, everything takes twice as long). Images for a second of "
        f"processor time of one core; images/s by the clock with one thread and with {cores}, medians of {TURNS} "
        f"turns; and what {MANY:,} images take."
    )
    columns = ("pixels", "per core second", "one thread", f"{cores} threads", "speed-up", f"minutes for {MANY:,}")
    busy = "others were at work on these cores"
    goals = [Goal(f"minutes for {MANY:,} images at 96 pixels, both views", MINUTES, 2 * MANY / at_96 / 60, True, busy)]
    return Table("Encoder: images a second", about, columns, rows, goals)


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
