"""What a doctor says: a finding with its evidence and a remedy that can be pasted."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """`ill` findings end in exit code 1; the others are notes."""

    kind: str
    text: str
    ill: bool = False
    client: int | None = None  # None: the run as a whole
    round: int | None = None  # where it begins
    evidence: Mapping[str, object] = field(default_factory=dict)
    remedy: str = ""  # overrides for the next run


@dataclass(frozen=True)
class Diagnosis:
    """All findings of one case, the ill ones first."""

    title: str
    method: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...] = ()
    distances: Mapping[int, float] = field(default_factory=dict)  # client -> median |log(lambda / lambda*)|

    @property
    def ill(self) -> bool:
        return any(finding.ill for finding in self.findings)

    def of(self, client: int | None) -> list[Finding]:
        return [finding for finding in self.findings if finding.client == client]


def number(value: float | None) -> str:
    """Three digits, as people write them."""
    return "unknown" if value is None else f"{value:.3g}"
