"""The shape of a table."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from mooring.study.evidence import Evidence
from mooring.study.measures import Measure

Cell = str | int | float


class Table(Protocol):
    """Documented beside measured."""

    kind: ClassVar[str]

    @property
    def title(self) -> str: ...

    def __call__(self, evidence: Evidence) -> "Printed": ...

    def groups(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Printed:
    """A table, ready to be shown."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Column:
    """A measured column."""

    title: str
    measure: Measure
