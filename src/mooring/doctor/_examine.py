"""All checks of a run, in order, and the remedies that the doctor proposes.

A remedy is a command that can be pasted and that acts on the examined run. It is proposed only if it helped in every
run on at least two real data sets, three runs or more on each. studies/advice.py measures the trials.
"""

from dataclasses import dataclass, replace
from shlex import join
from statistics import fmean

from mooring.doctor import _annealing_checks, _client_checks, _fusion_checks, _lambda_checks
from mooring.doctor._case import Case, distance, without_invalid_numbers
from mooring.doctor._finding import Diagnosis, Finding

ENOUGH = 2  # real data sets on which a remedy must have helped in every run
RUNS = 3  # on each of them, at least


@dataclass(frozen=True)
class Trial:
    """A remedy on finished runs of one data set: the fused accuracy of each run before and after."""

    data: str
    method: str
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def helped(self) -> bool:
        return len(self.before) >= RUNS and all(
            after > before for before, after in zip(self.before, self.after, strict=True)
        )

    def __str__(self) -> str:
        better = sum(after > before for before, after in zip(self.before, self.after, strict=True))
        means = f"{fmean(self.before):.2f} -> {fmean(self.after):.2f}"
        return f"{self.data} ({self.method}: {means}, better in {better} of {len(self.before)} runs)"


@dataclass(frozen=True)
class FuseAgain:
    """The uploads as they are, fused by another rule."""

    fusion: str
    trials: tuple[Trial, ...]

    @property
    def helps(self) -> bool:
        """In every run on enough real data sets; one failed trial on a set takes that set away."""
        sets = {trial.data for trial in self.trials}
        lost = {trial.data for trial in self.trials if not trial.helped}
        return len(sets - lost) >= ENOUGH

    @property
    def support(self) -> str:
        *most, last = map(str, self.trials)
        return f"It helped on {', '.join(most)} and {last}."

    def applies(self, case: Case) -> bool:
        """To runs made here under the published average, whose clients train."""
        return case.folder is not None and case.setting.plain_mean and case.setting.trains

    def command(self, case: Case) -> str:
        trust = ["--trust-code"] if case.own_code else []
        return join(["mooring", "fuse", *trust, str(case.folder), "--fusion", self.fusion])


# 10,000 images, alpha 0.05, seeds 1 to 3, 5,000 test images; ResNet-8, 25 epochs; CIFAR-100: V4 of study 3, 20 epochs
BY_FAMILIARITY = FuseAgain(
    "familiarity",
    (
        Trial("SVHN", "v12", (0.3636, 0.1602, 0.1536), (0.6070, 0.5192, 0.5710)),
        Trial("SVHN", "v4", (0.3620, 0.4992, 0.5070), (0.6754, 0.7184, 0.6524)),
        Trial("CIFAR-10", "v4", (0.2636, 0.3276, 0.2974), (0.4572, 0.5092, 0.5034)),
        Trial("CIFAR-100", "v4", (0.1384, 0.1368, 0.1472), (0.2250, 0.2470, 0.2500)),
    ),
)
REMEDIES: dict[str, tuple[FuseAgain, ...]] = dict.fromkeys(
    ("running-away", "capped", "unstable", "collapsed", "norm-domination", "never-seen"), (BY_FAMILIARITY,)
)


def remedy_for(kind: str, case: Case) -> FuseAgain | None:
    """The first remedy for this kind of finding that was seen to help and applies to the case."""
    return next((remedy for remedy in REMEDIES.get(kind, ()) if remedy.helps and remedy.applies(case)), None)


def examine(case: Case) -> Diagnosis:
    """All findings, problems first, each with the first remedy that applies and was measured to help."""
    found = list(_client_checks.not_numbers(case))
    case = without_invalid_numbers(case)
    for check in (_lambda_checks.check, _annealing_checks.check, _fusion_checks.check, _client_checks.check):
        found += check(case)
    findings = [with_remedy(finding, case) for finding in found]
    findings.sort(key=lambda finding: not finding.ill)
    apart = {
        client.client: distance([row for row in client.rounds if row.lambda_felt]) for client in case.record.clients
    }
    known = {client: value for client, value in apart.items() if value is not None}
    sites = {client.client: client.site for client in case.record.clients}
    return Diagnosis(case.title, case.method, tuple(findings), case.record.remarks, known, sites)


def with_remedy(finding: Finding, case: Case) -> Finding:
    remedy = remedy_for(finding.kind, case)
    return finding if remedy is None else replace(finding, remedy=remedy.command(case), support=remedy.support)
