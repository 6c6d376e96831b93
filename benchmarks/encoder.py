"""How fast the frozen encoder of `mooring` looks at images."""

import os
from collections.abc import Callable
from statistics import median
from time import monotonic, process_time

import torch

from benchmarks.table import Goal, Say, Table
from mooring.models.backbones import DigitsNet
from mooring.models.feature_maps import Encoder
from mooring.models.feature_maps.encoder import ENLARGED
from mooring.models.heads import Linear
from mooring.models.network import Blueprint

FAST, USUAL, SHARP = Encoder("efficientnet-lite0", pixels=96), Encoder(pixels=ENLARGED), Encoder(pixels=160)
COUNTS = {FAST: 512, USUAL: 256, SHARP: 128}  # images of a turn
TURNS = 3
MANY = 20_000  # images
MINUTES = 5.0  # for so many of them
SMALL = (3, 32, 32)


def measure(say: Say) -> Table:
    cores = os.cpu_count() or 1
    rows: list[tuple[object, ...]] = []
    rates: dict[Encoder, float] = {}
    for encoder, count in COUNTS.items():
        images = torch.randint(0, 256, (count, *SMALL), dtype=torch.uint8)
        phi = encoder.build(Blueprint(DigitsNet(), Linear(), SMALL, ("a", "b"), (0.5,), (0.5,)))
        phi(images[:64])  # the session is made when it is first used

        def pass_over(phi: torch.nn.Module = phi, images: torch.Tensor = images) -> None:
            with torch.inference_mode():
                phi(images)

        by_core = count / timed(pass_over, 1, process_time)
        one, all_ = (count / timed(pass_over, threads, monotonic) for threads in (1, cores))
        rates[encoder] = all_
        rows.append((encoder.weights, encoder.pixels, by_core, one, all_, all_ / one, 2 * MANY / all_ / 60))
        told = f"{by_core:.0f} images for a second of one core, {all_:.0f} images/s by {cores} threads"
        say(f"{encoder.weights}, {encoder.pixels} pixels: {told}")
    about = (
        f"The layers of `mooring`, images of {SMALL[1]} x {SMALL[2]} pixels brought to so many a side, one view. "
        f"Images for a second of one core; images/s by the clock with one thread and with {cores}, medians of {TURNS} "
        f"turns; and what {MANY:,} images and their mirror images take. The default is {USUAL.weights} at "
        f"{USUAL.pixels} pixels."
    )
    columns = ("weights", "pixels", "per core second", "one thread", f"{cores} threads", "speed-up", "minutes")
    minutes = 2 * MANY / rates[USUAL] / 60
    goals = [Goal(f"minutes for {MANY:,} images, both views, by the default", MINUTES, minutes, True, "busy cores")]
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
