"""One outcome for every upload: used, needs review, or rejected. Simulations, files and Flower all ask here."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from mooring.federation._comparisons import UnusualSign, absurd_prototypes, oversized, unusual_moments
from mooring.federation._rules import NO_LIMITS, SiteLimits, broken_rules, feature_bounds
from mooring.models import PROTOTYPES, Blueprint
from mooring.types import Upload
from mooring.uploads import Moments, Parts


class Outcome(Enum):
    """What becomes of an upload."""

    USED = "used"
    NEEDS_REVIEW = "needs review"  # unusual; a person decides
    REJECTED = "rejected"  # it breaks a rule that every honest upload keeps


@dataclass(frozen=True)
class Judgement:
    """The outcome for one upload, and everything that was seen."""

    client: int
    site: str
    outcome: Outcome
    seen: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "; ".join(self.seen)


def judge(
    uploads: Sequence[Upload], needs: Parts, blueprint: Blueprint, limits: SiteLimits = NO_LIMITS
) -> tuple[Judgement, ...]:
    """One judgement for every admitted upload, in their order.

    Rules come first; an upload that breaks one is no witness in the comparisons.
    """
    bounds = feature_bounds(needs, blueprint)
    broken = {upload.client: tuple(broken_rules(upload, needs, bounds, limits)) for upload in uploads}
    any_broken = any(broken.values())  # uploads that lie on disk are not all taken into memory
    sound = [upload for upload in uploads if not broken[upload.client]] if any_broken else uploads
    findings: list[UnusualSign] = [] if limits.images is not None else list(oversized(sound))
    for part in sorted((part for part in needs if isinstance(part, Moments)), key=repr):
        findings += unusual_moments(part, sound, blueprint.classes)
    if sound and all(PROTOTYPES in upload.tensors for upload in sound):
        findings += absurd_prototypes(sound)

    def judgement(client: int, site: str) -> Judgement:
        unusual = tuple(finding.text for finding in findings if finding.client == client)
        if broken[client]:
            return Judgement(client, site, Outcome.REJECTED, broken[client])
        return Judgement(client, site, Outcome.NEEDS_REVIEW if unusual else Outcome.USED, unusual)

    return tuple(judgement(upload.client, upload.site) for upload in uploads)
