"""A finding of the doctor: its severity and meaning in plain words, the evidence in symbols, and a command to paste."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mooring.wording import round_number

Severity = Literal["ill", "note"]


@dataclass(frozen=True)
class FindingEvidence:
    """What one client shows, or the run as a whole: symbols, values and bounds."""

    text: str
    client: int | None = None  # None: the run as a whole
    round: int | None = None  # where it begins
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """`ill` findings end in exit code 1; the others are notes. A remedy is shown only if it was measured to help."""

    kind: str
    severity: Severity
    words: str
    evidence: tuple[FindingEvidence, ...] = ()
    remedy: str = ""  # a command that can be pasted
    support: str = ""  # on which runs the remedy helped, and by how much

    @property
    def ill(self) -> bool:
        return self.severity == "ill"

    @property
    def clients(self) -> tuple[int, ...]:
        return tuple(shown.client for shown in self.evidence if shown.client is not None)

    @property
    def round(self) -> int | None:
        """Where it begins."""
        return first_round(self.evidence)


@dataclass(frozen=True)
class Diagnosis:
    """All findings of one case, problems first."""

    title: str
    method: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...] = ()
    distances: Mapping[int, float] = field(default_factory=dict)  # client -> median |log(lambda / lambda*)|
    sites: Mapping[int, str] = field(default_factory=dict)  # client -> the name of its site

    @property
    def ill(self) -> bool:
        return any(finding.ill for finding in self.findings)

    def finding(self, kind: str) -> Finding | None:
        return next((finding for finding in self.findings if finding.kind == kind), None)


def first_round(evidence: Sequence[FindingEvidence]) -> int | None:
    return min((shown.round for shown in evidence if shown.round is not None), default=None)


def at_clients(evidence: Sequence[FindingEvidence], clients: int) -> str:
    """at 3 of 5 clients from round 2"""
    begun = first_round(evidence)
    return f"at {len(evidence)} of {clients} clients" + ("" if begun is None else f" from round {round_number(begun)}")
