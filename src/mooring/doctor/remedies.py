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
    """The same experiment with another setting, in a folder beside the examined one."""

    key: str
    value: str

    def command(self, case: Case) -> str:
        if case.folder is None or case.method == self.value:
            return ""
        out = f"out={case.folder}-{self.key.rpartition('.')[2]}-{self.value}"
        return join(["mooring", "run", str(case.folder / "experiment.yaml"), f"{self.key}={self.value}", out])


CLASS_EXPERT = FuseAgain("class-expert")
REMEDIES: dict[str, tuple[Remedy, ...]] = {
    "running-away": (CLASS_EXPERT, TrainAgain("method", "closed-form")),
    "capped": (CLASS_EXPERT,),
    "unstable": (CLASS_EXPERT,),
    "collapsed": (CLASS_EXPERT,),
    "norm-domination": (CLASS_EXPERT,),
    "never-seen": (CLASS_EXPERT,),
}


def remedy_for(kind: str, case: Case) -> str:
    """The first remedy for this kind that applies to the case."""
    commands = (remedy.command(case) for remedy in REMEDIES.get(kind, ()))
    return next((command for command in commands if command), "")
