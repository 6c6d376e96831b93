"""One network in the place of all clients': as cheap to run as a single one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self

import torch
from torch import Tensor

from mooring.fusion._predictor import Predictor, Saved
from mooring.models import Blueprint
from mooring.types import Upload, View
from mooring.uploads import network_of, state_of

StateDict = dict[str, Tensor]


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


def states_of(uploads: Sequence[Upload], blueprint: Blueprint) -> list[StateDict]:
    """Every client's whole network."""
    names = state_of(blueprint)
    return [{name: upload.tensors[name] for name in names} for upload in uploads]


def samples_of(uploads: Sequence[Upload]) -> list[Tensor]:
    """n_k, one scalar per client."""
    return [torch.tensor(upload.samples, dtype=torch.float64) for upload in uploads]


def averaged(weighed: Iterable[tuple[StateDict, Tensor]]) -> StateDict:
    """theta = sum_k n_k/n theta_k, batch-norm statistics included; a counter of batches keeps its largest value.

    One state and its n_k after the other: memory does not grow with their number.
    """
    names: tuple[str, ...] = ()
    means: dict[str, Mean] = {}
    most: StateDict = {}
    for state, samples in weighed:
        names = names or tuple(state)
        for name, theta in state.items():
            if theta.is_floating_point():
                means.setdefault(name, Mean()).add(theta, samples)
            else:
                most[name] = torch.maximum(most.get(name, theta), theta)
    return {name: means[name].value() if name in means else most[name] for name in names}


class Mean:
    """sum_k w_k theta_k / sum_k w_k, entry by entry, in double precision."""

    def __init__(self) -> None:
        self.total = self.weight = torch.zeros((), dtype=torch.float64)
        self.dtype = torch.float64

    def add(self, theta: Tensor, weight: Tensor) -> None:
        self.total, self.weight = self.total + weight * theta.double(), self.weight + weight
        self.dtype = theta.dtype

    def value(self) -> Tensor:
        return (self.total / self.weight).to(self.dtype)


def weighted_mean(tensors: Iterable[Tensor], weights: Iterable[Tensor]) -> Tensor:
    """The mean of these tensors with these weights."""
    mean = Mean()
    for theta, weight in zip(tensors, weights, strict=True):
        mean.add(theta, weight)
    return mean.value()
