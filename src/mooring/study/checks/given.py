"""A claim about what follows from something, where that something may not have happened."""

from dataclasses import dataclass
from typing import ClassVar

from mooring.study.checks.base import CONFIRMED, UNSEEN, Check, Verdict
from mooring.study.evidence import Evidence


@dataclass(frozen=True)
class Given:
    """`then` decides if `premise` is confirmed; otherwise the claim cannot be seen here."""

    kind: ClassVar[str] = "given"
    premise: Check
    then: Check

    def groups(self) -> tuple[str, ...]:
        return *self.premise.groups(), *self.then.groups()

    def __call__(self, evidence: Evidence) -> Verdict:
        premise, then = self.premise(evidence), self.then(evidence)
        if premise.verdict == CONFIRMED:
            return then
        return Verdict(UNSEEN, then.measured, f"its premise is not there ({premise.measured}: {premise.reason})")
