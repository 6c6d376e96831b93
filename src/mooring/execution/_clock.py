"""Where the time of a run goes."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Literal, get_args

from mooring.record import TimeSpent

Phase = Literal["prepare", "train", "fuse", "evaluate", "write"]


class Clock:
    """Measures the phases of a run. Time is counted for the innermost phase only, so the phases add up to the total."""

    def __init__(self) -> None:
        self._spent: dict[Phase, float] = dict.fromkeys(get_args(Phase), 0.0)
        self._phase: Phase = "prepare"
        self._since = monotonic()

    @contextmanager
    def during(self, phase: Phase) -> Iterator[None]:
        before = self._switch(phase)
        try:
            yield
        finally:
            self._switch(before)

    def move(self, source: Phase, to: Phase, seconds: float) -> None:
        """Count time of one phase for another."""
        self._spent[source] -= seconds
        self._spent[to] += seconds

    def total(self) -> float:
        self._switch(self._phase)
        return sum(self._spent.values())

    def spent(self) -> TimeSpent:
        return TimeSpent(**self._spent)

    def _switch(self, phase: Phase) -> Phase:
        now, before = monotonic(), self._phase
        self._spent[before] += now - self._since
        self._phase, self._since = phase, now
        return before
