"""Fuse uploads, and examine what came out: the predictor, every client alone, and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from mooring.evaluate import Examiner, Metrics
from mooring.fusion import FeatureEnsemble, Fusion
from mooring.fusion.ensemble import Ensemble
from mooring.fusion.server import Server
from mooring.types import Payload


@dataclass(frozen=True)
class Judgement:
    """A fused predictor in numbers."""

    metrics: Metrics
    alone: dict[int, Metrics]  # of each client whose upload holds a whole model
    server_seconds: float  # from uploads to predictor
    passes: int  # through an encoder, for one prediction


def judge(fusion: Fusion, payloads: Sequence[Payload], server: Server, examiner: Examiner) -> Judgement:
    """One fusion of these uploads, on the official test set."""
    began = monotonic()
    predictor = fusion(payloads, server)
    seconds = monotonic() - began
    if isinstance(predictor, Ensemble):
        fused, own = examiner.examine_with_members(predictor)
        return Judgement(fused, own, seconds, len(predictor.members))
    own = {}
    if FeatureEnsemble.needs <= fusion.needs:
        _, own = examiner.examine_with_members(FeatureEnsemble()(payloads, server))
    return Judgement(examiner.examine(predictor), own, seconds, 1)
