"""What a well-shaped tensor of an upload must hold to make sense."""

from torch import Tensor

from mooring.errors import FusionError
from mooring.types import Upload


def demand(holds: Tensor | bool, payload: Upload, name: str, problem: str) -> None:
    """Refuse an upload by client and tensor."""
    if not holds:
        raise FusionError(
            f"client {payload.client}: tensor {name!r} {problem}", "ask the client to upload again, or leave it out"
        )


def demand_counts(payload: Upload, name: str) -> None:
    """n_kc >= 0, and their sum is n_k."""
    counts = payload.tensors[name]
    adds_up = bool(counts.min() >= 0) and bool(counts.sum() == payload.samples)
    demand(adds_up, payload, name, f"does not add up to its {payload.samples} samples")
