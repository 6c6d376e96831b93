"""One network in the place of all clients': as cheap to run as a single one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self

import torch
from torch import Tensor

from mooring.fusion.predictor import Predictor, Saved
from mooring.models.network import Blueprint
from mooring.types import Upload, View
from mooring.uploads.model import network_of, state_of

State = dict[str, Tensor]


class Merged(Predictor):
    """scores = the logits of a network with this state."""

    kind: ClassVar[str] = "network"

    def __init__(self, state: Mapping[str, Tensor], blueprint: Blueprint) -> None:
        super().__init__(blueprint)
        self.network = network_of(state, blueprint)

    def forward(self, images: Tensor) -> Tensor:
        view: View = self.network(images)
        return view.logits

    @classmethod
    def restored(cls, saved: Saved) -> Self:
        return cls(saved.network("network").state_dict(), saved.blueprint)


def states_of(uploads: Sequence[Upload], blueprint: Blueprint) -> list[State]:
    """Every client's whole network."""
    names = state_of(blueprint)
    return [{name: upload.tensors[name] for name in names} for upload in uploads]


def samples_of(uploads: Sequence[Upload]) -> list[Tensor]:
    """n_k, one scalar per client."""
    return [torch.tensor(upload.samples, dtype=torch.float64) for upload in uploads]


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
