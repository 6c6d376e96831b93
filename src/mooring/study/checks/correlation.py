"""Two things go together, over clients or over rounds."""

from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, Literal

from mooring.study.checks.base import CONFIRMED, REFUTED, UNSEEN, Verdict, missing
from mooring.study.evidence import Evidence, Run
from mooring.study.measures import Measure
from mooring.study.ranks import spearman
from mooring.study.samples import told


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation in each run, `sign` the claimed one. Confirmed: sign * mean rho >= strength, and the
    sign right in every seed. Not confirmed: sign * mean rho <= 0. Otherwise it is too weak to be seen."""

    kind: ClassVar[str] = "correlation"
    of: str
    x: Measure
    y: Measure
    across: Literal["clients", "rounds"] = "clients"
    sign: Literal[-1, 1] = 1
    strength: float = 0.5

    def groups(self) -> tuple[str, ...]:
        return (self.of,)

    def __call__(self, evidence: Evidence) -> Verdict:
        found = [self.of_run(run) for run in evidence.runs(self.of)]
        rhos = [rho for rho in found if rho is not None]
        if not rhos:
            return missing(self.of)
        measured = f"rank correlation of {self.x} and {self.y} over {self.across}: {told(rhos)}"
        right = sum(self.sign * rho > 0 for rho in rhos)
        reason = f"{'positive' if self.sign > 0 else 'negative'} in {right} of {len(rhos)} seeds"
        if self.sign * fmean(rhos) <= 0:
            return Verdict(REFUTED, measured, reason)
        if self.sign * fmean(rhos) >= self.strength and right == len(rhos):
            return Verdict(CONFIRMED, measured, reason)
        return Verdict(UNSEEN, measured, f"{reason}, and weaker than {self.strength:g} or not in every seed")

    def of_run(self, run: Run) -> float | None:
        if self.across == "rounds":
            x, y = self.x.series(run), self.y.series(run)
        else:
            x, y = self.x.by_client(run), self.y.by_client(run)
        common = sorted(x.keys() & y.keys())
        return spearman([x[key] for key in common], [y[key] for key in common])
