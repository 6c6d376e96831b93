"""One network in the place of all clients': as cheap to run as a single one."""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from mooring.fusion.base import Frozen
from mooring.models.network import Blueprint
from mooring.types import Upload, View
from mooring.uploads.model import state_of

State = dict[str, Tensor]


class Merged(Frozen):
    """scores = the logits of a network with this state."""

    def __init__(self, state: Mapping[str, Tensor], blueprint: Blueprint) -> None:
        super().__init__()
        self.network = blueprint.build(torch.Generator()).requires_grad_(False).eval()
        self.network.load_state_dict(state)

    def forward(self, images: Tensor) -> Tensor:
        view: View = self.network(images)
        return view.logits


def states_of(payloads: Sequence[Upload], blueprint: Blueprint) -> list[State]:
    """Every client's whole network."""
    names = state_of(blueprint)
    return [{name: payload.tensors[name] for name in names} for payload in payloads]


def samples_of(payloads: Sequence[Upload]) -> list[Tensor]:
    """n_k, one scalar per client."""
    return [torch.tensor(payload.samples, dtype=torch.float64) for payload in payloads]


def averaged(states: Sequence[State], samples: Sequence[Tensor]) -> State:
    """theta = sum_k n_k/n theta_k, batch-norm statistics included; a counter of batches keeps its largest value."""

    def mean(tensors: Sequence[Tensor]) -> Tensor:
        if tensors[0].is_floating_point():
            return weighted_mean(tensors, samples)
        return torch.stack(list(tensors)).amax(0)

    return {name: mean([state[name] for state in states]) for name in states[0]}


def weighted_mean(tensors: Sequence[Tensor], weights: Iterable[Tensor]) -> Tensor:
    """sum_k w_k theta_k / sum_k w_k, entry by entry, in double precision."""
    total, weight = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for w, theta in zip(weights, tensors, strict=True):
        total, weight = total + w * theta.double(), weight + w
    return (total / weight).to(tensors[0].dtype)
