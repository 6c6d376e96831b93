"""The shape of a fusion rule: uploads in, one predictor out."""

from collections.abc import Sequence
from typing import ClassVar, Protocol

import torch
from torch import Tensor, nn

from mooring.errors import FusionError
from mooring.models.network import PROTOTYPES, Blueprint, Network
from mooring.types import Payload

LOWEST_COSINE = -1.0  # the score of a class that nobody has seen


class Fusion(Protocol):
    """A rule, and what it wants uploaded. The predictor maps images to scores (B, C), in eval mode for good."""

    kind: ClassVar[str]
    needs: ClassVar[frozenset[str]]

    def __call__(self, payloads: Sequence[Payload], blueprint: Blueprint) -> nn.Module: ...


class Frozen(nn.Module):
    """A module that stays in eval mode: a server must never adapt its batch norm to test batches."""

    def __init__(self) -> None:
        super().__init__()
        self.eval()

    def train(self, mode: bool = True) -> "Frozen":
        super().train(False)
        return self


def in_order(payloads: Sequence[Payload]) -> list[Payload]:
    """Uploads by client number: the order of arrival must not change a bit of the result."""
    if not payloads:
        raise FusionError("there is nothing to fuse: no client has uploaded", "check partition.clients and the data")
    return sorted(payloads, key=lambda payload: payload.client)


def rebuild(payload: Payload, blueprint: Blueprint) -> Network:
    """A client's network from its upload; a wrong, missing or broken tensor is refused by name."""
    network = blueprint.build(torch.Generator())
    wanted = network.state_dict()
    for name, tensor in wanted.items():
        given = payload.tensors.get(name)
        if given is None:
            raise FusionError(f"client {payload.client}: tensor {name!r} is missing", "ask the client to upload again")
        if given.shape != tensor.shape:
            raise FusionError(
                f"client {payload.client}: tensor {name!r} has shape {tuple(given.shape)}, not {tuple(tensor.shape)}",
                "all clients must train the model of the job",
            )
        if not torch.isfinite(given).all():
            raise FusionError(f"client {payload.client}: tensor {name!r} holds values that are not finite")
    network.load_state_dict({name: payload.tensors[name] for name in wanted})
    return network.requires_grad_(False).eval()


def prototypes_of(payloads: Sequence[Payload]) -> Tensor:
    """(K, C, d)"""
    return torch.stack([payload.tensors[PROTOTYPES] for payload in payloads])


def data_shares(payloads: Sequence[Payload]) -> Tensor:
    """n_k / n, (K,)"""
    samples = torch.tensor([float(payload.samples) for payload in payloads])
    return samples / samples.sum()


def label_counts_of(payloads: Sequence[Payload]) -> Tensor:
    """n_kc, (K, C)"""
    return torch.stack([payload.tensors["label_counts"] for payload in payloads]).float()
