"""Where a client stands in its training, to the step."""

from dataclasses import dataclass


@dataclass
class Position:
    """The next step: which round, which epoch of it, which batch of that epoch."""

    round: int = 0
    epoch: int = 0
    batch: int = 0
