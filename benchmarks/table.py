"""What every benchmark hands over: a table, its goals, and whether they are met."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

Say = Callable[[str], None]  # one line of progress


class Goal(NamedTuple):
    """A promise in words, what was measured, and why it was missed if it was."""

    text: str
    wanted: float
    measured: float
    at_most: bool = False
    because: str = ""

    @property
    def met(self) -> bool:
        return self.measured <= self.wanted if self.at_most else self.measured >= self.wanted

    def line(self) -> str:
        missed = "" if self.met else ", **not met**" + (f": {self.because}" if self.because else "")
        return f"- {self.text}: {self.measured:.2f} (goal {'<=' if self.at_most else '>='} {self.wanted:.2f}){missed}"


@dataclass(frozen=True)
class Table:
    title: str
    about: str
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]
    goals: list[Goal] = field(default_factory=list)

    def markdown(self) -> str:
        first, *others = [f"| {' | '.join(map(shown, row))} |" for row in (self.columns, *self.rows)]
        lines = [first, "|---" * len(self.columns) + "|", *others]
        goals = [goal.line() for goal in self.goals]
        return "\n".join([f"## {self.title}", "", self.about, "", *lines, *([""] if goals else []), *goals])


def shown(value: object) -> str:
    """Three digits are all that a shared machine can promise."""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return str(value)
