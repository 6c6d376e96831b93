"""A study's claims as lines: verdict, sentence, the one number; quotation, rule and remark unfold."""

import re

from mooring.record import DecidedClaim
from mooring.reports.section import Tone, VerdictLine
from mooring.types import CONFIRMED, REFUTED, UNSEEN

TONES: dict[str, Tone] = {CONFIRMED: "good", REFUTED: "bad", UNSEEN: "open"}
NUMBER = r"-?\d[\d,.]*(?:e[+-]?\d+)?"
DIFFERENCE = re.compile(rf"difference ({NUMBER}(?: ± {NUMBER})?)")
MEASURED = re.compile(rf": ({NUMBER}(?: ± {NUMBER})?)")


def judged(claim: DecidedClaim) -> VerdictLine:
    documented = f"documented: {claim.documented}" if claim.documented else ""
    measured = f"measured: {claim.measured}" if claim.measured else ""
    detail = " · ".join(part for part in (documented, measured) if part)
    return VerdictLine(
        TONES[claim.verdict],
        claim.verdict,
        claim.claim,
        detail,
        claim.phrase,
        claim.remark,
        main_figure(claim.measured),
        claim.reason,
    )


def main_figure(measured: str) -> str:
    """Of `fused accuracy: 0.42 ± 0.03 against 0.57; difference -0.15 ± 0.07` the difference, else the only one."""
    match = DIFFERENCE.search(measured)
    if match:
        return f"difference {match[1]}"
    found = MEASURED.findall(measured)
    return found[0].rstrip(".,") if len(found) == 1 else ""
