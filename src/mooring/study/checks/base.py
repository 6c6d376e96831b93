"""The shape of a check, and of its answer."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from mooring.study.evidence import Evidence
from mooring.verdicts import CONFIRMED, REFUTED, UNSEEN, Answer

__all__ = ["CONFIRMED", "REFUTED", "UNSEEN", "Answer", "Check", "Verdict", "missing"]


@dataclass(frozen=True)
class Verdict:
    """What the data says of a claim: the answer, the numbers, and the reason in words."""

    verdict: Answer
    measured: str
    reason: str


class Check(Protocol):
    """A rule that decides a claim from finished runs."""

    kind: ClassVar[str]

    def __call__(self, evidence: Evidence) -> Verdict: ...

    def groups(self) -> tuple[str, ...]:
        """The runs it asks for."""
        ...


def missing(*groups: str) -> Verdict:
    """No run, or none that holds what is asked."""
    return Verdict(UNSEEN, "-", f"no finished run of {' or '.join(groups)} holds it")
