"""Schedules over a client's progress: numbers that go from 1 to 0.

    constant  1          linear  1 - p          cosine  (1 + cos(pi p)) / 2

p is the progress over the whole local training. The `-by-round` forms hold p = r/R constant within round r, as the
server's annealing factor of note 3 does: 1, .9, .8, ... and 1, .975, .904, .793, ...; the `-by-epoch` forms hold it
within an epoch, as the public code of V12 and later does.
"""

from collections.abc import Callable
from math import cos, pi
from typing import Literal

from mooring.types import Progress

ScheduleName = Literal[
    "constant", "linear", "cosine", "linear-by-round", "cosine-by-round", "linear-by-epoch", "cosine-by-epoch"
]


def linear(p: float) -> float:
    return 1.0 - p


def cosine(p: float) -> float:
    return 0.5 * (1.0 + cos(pi * p))


SCHEDULES: dict[ScheduleName, Callable[[Progress], float]] = {
    "constant": lambda _: 1.0,
    "linear": lambda progress: linear(progress.overall),
    "cosine": lambda progress: cosine(progress.overall),
    "linear-by-round": lambda progress: linear(progress.by_round),
    "cosine-by-round": lambda progress: cosine(progress.by_round),
    "linear-by-epoch": lambda progress: linear(progress.by_epoch),
    "cosine-by-epoch": lambda progress: cosine(progress.by_epoch),
}


def at(schedule: ScheduleName, progress: Progress) -> float:
    """The value of the named schedule at this point of the training."""
    return SCHEDULES[schedule](progress)
