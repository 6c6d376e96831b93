"""The shape of a measure."""

from typing import ClassVar, Protocol

from mooring.study.evidence import Run


class Measure(Protocol):
    """One number of a run, None where the run does not hold it; and by round and by client where that makes sense."""

    kind: ClassVar[str]

    def value(self, run: Run) -> float | None: ...

    def series(self, run: Run) -> dict[int, float]: ...

    def by_client(self, run: Run) -> dict[int, float]: ...

    def __str__(self) -> str: ...
