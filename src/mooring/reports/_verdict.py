"""The verdict on a run, derived from its outcome: better than guessing and local-only, and near its own peak?"""

from dataclasses import dataclass
from shlex import quote

from mooring.record import RunResult
from mooring.reports._accuracies import accuracy_interval, baseline_of
from mooring.wording import percent, percent_range, round_number

TOLERATED = 0.1  # of its own peak that a run may lose


@dataclass(frozen=True)
class RunVerdict:
    """What speaks for a run, what against it, and the command that follows."""

    merits: tuple[str, ...]
    warnings: tuple[str, ...]
    verb: str = "report"  # of the next command

    @property
    def sound(self) -> bool:
        """Nothing speaks against it, and something for it."""
        return bool(self.merits) and not self.warnings

    @property
    def text(self) -> str:
        found, mark = (self.warnings, "warning: ") if self.warnings else (self.merits, "")
        return f"{mark}{'; '.join(found)}" if found else ""

    def next_command(self, folder: str) -> str:
        return f"mooring {self.verb} {quote(folder)}"


def verdict_on(result: RunResult, fused: bool = True) -> RunVerdict:
    """Above the majority-class baseline by its interval, above local-only, at most 10 % below its own peak.

    What a record does not contain is not judged. `fused`: False for a control that fuses nothing.
    """
    merits, warnings, verbs = [], [], []
    sure, baseline, alone = (
        accuracy_interval([result.accuracy], result.test_images),
        baseline_of(result),
        result.last.accuracy_alone,
    )
    if sure and baseline:
        level = f"the majority-class baseline ({percent(baseline.share)})"
        if sure.low > baseline.share:
            merits.append(f"above {level}")
        else:
            warnings.append(f"its 95 % interval {percent_range((sure.low, sure.high))} is not above {level}")
            verbs.append("doctor")
    if alone is not None and fused:
        level = f"local-only ({percent(alone)})"
        if result.accuracy > alone:
            merits.append(f"above {level}")
        else:
            warnings.append(f"not above {level}: fusing gained nothing")
            verbs.append("fuse")
    peak = max(result.rounds, key=lambda row: row.accuracy)
    if result.accuracy < (1 - TOLERATED) * peak.accuracy:
        lost = percent(1 - result.accuracy / peak.accuracy, 0)
        warnings.append(f"{lost} below its peak ({percent(peak.accuracy)} after round {round_number(peak.round)})")
        verbs.append("doctor")
    verb = "report" if not verbs else "doctor" if "doctor" in verbs else verbs[0]
    return RunVerdict(tuple(merits), tuple(warnings), verb)
