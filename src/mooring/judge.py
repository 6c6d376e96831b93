"""Fuse uploads, and examine what came out: the predictor, every client alone, and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic

from torch import Generator

from mooring.evaluate import Examiner, Metrics, accuracy_on
from mooring.fusion import FeatureEnsemble, Fusion, fuse
from mooring.fusion.server import Server
from mooring.types import Upload


@dataclass(frozen=True)
class Judgement:
    """A fused predictor in numbers."""

    metrics: Metrics
    alone: dict[int, Metrics]  # of each client whose upload holds a whole model
    server_seconds: float  # from uploads to predictor
    passes: int  # through an encoder, for one prediction
    validation: float | None = None  # accuracy on the server's validation images, if it has any


def judge(fusion: Fusion, payloads: Sequence[Upload], server: Server, examiner: Examiner) -> Judgement:
    """One fusion of these uploads, on the official test set."""
    judged = examined(fusion, payloads, server, examiner)
    if judged.alone or not FeatureEnsemble.needs <= fusion.needs:
        return judged
    return replace(judged, alone=alone(payloads, server, examiner))


def alone(payloads: Sequence[Upload], server: Server, examiner: Examiner) -> dict[int, Metrics]:
    """Every client by itself, one after the other in the same network: memory does not grow with their number."""
    network = server.blueprint.build(Generator()).requires_grad_(False).eval()
    names, own = list(network.state_dict()), {}
    for payload in sorted(payloads, key=lambda payload: payload.client):
        network.load_state_dict({name: payload.tensors[name] for name in names})
        own[payload.client] = examiner.examine(lambda images: network(images).logits)
    return own


def examined(fusion: Fusion, payloads: Sequence[Upload], server: Server, examiner: Examiner) -> Judgement:
    """The same, and each client alone only where that costs nothing: where it takes part in every prediction."""
    began = monotonic()
    predictor = fuse(fusion, payloads, server)
    seconds = monotonic() - began
    chosen_by = None if server.validation is None else accuracy_on(predictor, server.validation)
    fused, own = examiner.examine_with_members(predictor)
    return Judgement(fused, own, seconds, predictor.passes, chosen_by)
