"""What the doctor proposes: only what was seen to help on the digits (docs/doctor.md has the figures).

A remedy becomes a command that can be pasted and acts on the run that was examined.
"""

from collections.abc import Set
from dataclasses import dataclass
from shlex import join
from typing import Protocol

from mooring.doctor.case import Case


class Remedy(Protocol):
    def command(self, case: Case, ill: Set[str]) -> str:
        """What to paste, given the kinds of which the case is ill; empty where it was not seen to help."""


@dataclass(frozen=True)
class FuseAgain:
    """The uploads as they are, by another rule.

    It helped wherever the fused accuracy had collapsed, and in runs that were moored and not ill at all; elsewhere it
    lost about as often as it won.
    """

    fusion: str

    def command(self, case: Case, ill: Set[str]) -> str:
        moored = case.setting.plain_mean and case.setting.rule is not None
        if case.folder is None or not moored or (ill and "collapsed" not in ill):
            return ""
        trust = ["--trust-code"] if case.own_code else []
        return join(["mooring", "fuse", *trust, str(case.folder), "--fusion", self.fusion])


@dataclass(frozen=True)
class TrainAgain:
    """The same experiment by another method and fusion, in a folder beside the examined one."""

    method: str
    fusion: str

    def command(self, case: Case, ill: Set[str]) -> str:
        words = [f"method={self.method}", f"fusion={self.fusion}"]
        return run_again(case, words, self.method) if ill else ""


def run_again(case: Case, words: list[str], name: str) -> str:
    if case.folder is None:
        return ""
    return join(["mooring", "run", str(case.folder / "experiment.yaml"), *words, f"out={case.folder}-{name}"])


CLASS_EXPERT, BY_ENTROPY = FuseAgain("class-expert"), TrainAgain("v9", "class-expert")
REMEDIES: dict[str, tuple[Remedy, ...]] = {  # the cheapest first
    "running-away": (CLASS_EXPERT, BY_ENTROPY),
    "capped": (CLASS_EXPERT, BY_ENTROPY),
    "unstable": (CLASS_EXPERT, BY_ENTROPY),
    "collapsed": (CLASS_EXPERT,),
    "norm-domination": (CLASS_EXPERT,),
    "never-seen": (CLASS_EXPERT,),
}


def remedy_for(kind: str, case: Case, ill: Set[str]) -> str:
    """The first remedy for this kind that applies to the case."""
    commands = (remedy.command(case, ill) for remedy in REMEDIES.get(kind, ()))
    return next((command for command in commands if command), "")
