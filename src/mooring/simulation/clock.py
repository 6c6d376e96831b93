"""Where the time of a run goes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import Literal

from mooring.record import TimeSpent

Phase = Literal["prepare", "train", "fuse", "evaluate", "write"]


class Clock:
    """Every moment belongs to one phase, to the innermost that has begun: the phases add up to the whole."""

    def __init__(self) -> None:
        self._spent: dict[Phase, float] = {}
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
        """Time of one phase turns out to belong to another."""
        self._spent[source] = self._spent.get(source, 0.0) - seconds
        self._spent[to] = self._spent.get(to, 0.0) + seconds

    def total(self) -> float:
        self._switch(self._phase)
        return sum(self._spent.values())

    def spent(self) -> TimeSpent:
        return replace(TimeSpent(), **self._spent)

    def _switch(self, phase: Phase) -> Phase:
        now, before = monotonic(), self._phase
        self._spent[before] = self._spent.get(before, 0.0) + now - self._since
        self._phase, self._since = phase, now
        return before
