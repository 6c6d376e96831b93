"""Courses as text: eight heights of a block."""

from collections.abc import Sequence
from math import log

BLOCKS = "▁▂▃▄▅▆▇█"
GAP = " "


def sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """Each value as a block between low and high; a missing one is a gap."""
    span = high - low
    return "".join(GAP if value is None else _block((value - low) / span if span > 0 else 0.5) for value in values)


def log_sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """The same on a logarithmic scale; what is not positive is a gap."""
    logs = [log(value) if value is not None and value > 0 else None for value in values]
    return sparkline(logs, log(low), log(high))


def _block(share: float) -> str:
    return BLOCKS[round(min(max(share, 0.0), 1.0) * (len(BLOCKS) - 1))]
