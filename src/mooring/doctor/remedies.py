"""What the doctor proposes: only what was seen to help on the digits (docs/doctor.md has the figures).

A remedy becomes a command that can be pasted and acts on the run that was examined.
"""

from dataclasses import dataclass
from shlex import join
from typing import Protocol

from mooring.doctor.case import Case


class Remedy(Protocol):
    def command(self, case: Case) -> str:
        """What to paste; empty where it would change nothing."""


@dataclass(frozen=True)
class FuseAgain:
    """The uploads as they are, by a rule that neither norms nor unseen classes can mislead."""

    fusion: str

    def command(self, case: Case) -> str:
        if case.folder is None or not case.setting.plain_mean:
            return ""
        trust = ["--trust-code"] if case.own_code else []
        return join(["mooring", "fuse", *trust, str(case.folder), "--fusion", self.fusion])


@dataclass(frozen=True)
class TrainAgain:
    """The same experiment by another method and fusion, in a folder beside the examined one."""

    method: str
    fusion: str

    def command(self, case: Case) -> str:
        words = [f"method={self.method}", f"fusion={self.fusion}"]
        return run_again(case, words, self.method)


@dataclass(frozen=True)
class LowerRate:
    """The same experiment at a learning rate at which others were well."""

    lr: float

    def command(self, case: Case) -> str:
        lower = case.setting.lr is not None and self.lr < case.setting.lr
        return run_again(case, [f"training.lr={self.lr}"], f"lr-{self.lr}") if lower else ""


def run_again(case: Case, words: list[str], name: str) -> str:
    if case.folder is None:
        return ""
    return join(["mooring", "run", str(case.folder / "experiment.yaml"), *words, f"out={case.folder}-{name}"])


CLASS_EXPERT = FuseAgain("class-expert")
REMEDIES: dict[str, tuple[Remedy, ...]] = {  # the cheapest first
    "running-away": (CLASS_EXPERT, TrainAgain("v9", "class-expert")),
    "capped": (CLASS_EXPERT,),
    "unstable": (CLASS_EXPERT, TrainAgain("v9", "class-expert")),
    "collapsed": (CLASS_EXPERT,),
    "norm-domination": (CLASS_EXPERT,),
    "never-seen": (CLASS_EXPERT,),
    "failed": (LowerRate(0.05),),
    "at-chance": (LowerRate(0.05),),
}


def remedy_for(kind: str, case: Case) -> str:
    """The first remedy for this kind that applies to the case."""
    commands = (remedy.command(case) for remedy in REMEDIES.get(kind, ()))
    return next((command for command in commands if command), "")
