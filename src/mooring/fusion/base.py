"""The shape of a fusion rule: uploads in, one predictor out."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol

import torch
from torch import Tensor, nn

from mooring.bounds import Checked
from mooring.errors import FusionError
from mooring.fusion.server import Server
from mooring.models.network import PROTOTYPES, Blueprint, Network
from mooring.types import Upload
from mooring.uploads import Parts
from mooring.uploads.label_counts import LABEL_COUNTS

LOWEST_COSINE = -1.0  # the score of a class that nobody has seen
Images = Literal["public", "validation"]


class Fusion(Checked, Protocol):
    """A rule, what it wants uploaded, and which images the server must have.

    The predictor maps images to scores (B, C), in eval mode for good.
    """

    kind: ClassVar[str]

    @property
    def needs(self) -> Parts: ...

    @property
    def asks(self) -> frozenset[Images]:
        return frozenset()

    def __call__(self, payloads: Sequence[Upload], server: Server) -> nn.Module: ...


class Frozen(nn.Module):
    """A module that stays in eval mode: a server must never adapt its batch norm to test batches."""

    def __init__(self) -> None:
        super().__init__()
        self.eval()

    def train(self, mode: bool = True) -> "Frozen":
        super().train(False)
        return self


def received(payloads: Sequence[Upload], needs: Parts, blueprint: Blueprint) -> list[Upload]:
    """Uploads by client number, each checked: the order of arrival must not change a bit of the result.

    A missing, misshapen or broken tensor is refused by client and name.
    """
    if not payloads:
        raise FusionError("there is nothing to fuse: no client has uploaded", "check partition.clients and the data")
    expected = {name: tensor for part in needs for name, tensor in part.expected(blueprint).items()}
    ordered = sorted(payloads, key=lambda payload: payload.client)
    for payload, following in zip(ordered, [*ordered[1:], None], strict=True):
        if following is not None and following.client == payload.client:
            raise FusionError(f"client {payload.client}: uploaded twice", "fuse one upload of each client")
        if payload.samples < 1:
            raise FusionError(f"client {payload.client}: claims {payload.samples} samples", "leave this client out")
        for name, tensor in expected.items():
            check(payload, name, tensor)
    return ordered


def check(payload: Upload, name: str, expected: Tensor) -> None:
    """One tensor of one upload."""
    given = payload.tensors.get(name)
    if given is None:
        raise FusionError(f"client {payload.client}: tensor {name!r} is missing", "ask the client to upload again")
    if given.shape != expected.shape:
        raise FusionError(
            f"client {payload.client}: tensor {name!r} has shape {tuple(given.shape)}, not {tuple(expected.shape)}",
            "all clients must train the model of the job",
        )
    if given.dtype != expected.dtype:
        raise FusionError(
            f"client {payload.client}: tensor {name!r} holds {given.dtype}, not {expected.dtype}",
            "ask the client to upload again",
        )
    if not torch.isfinite(given).all():
        raise FusionError(
            f"client {payload.client}: tensor {name!r} holds values that are not finite", "leave this client out"
        )
    if name == LABEL_COUNTS and (given.min() < 0 or given.sum() != payload.samples):
        raise FusionError(
            f"client {payload.client}: tensor {name!r} does not add up to its {payload.samples} samples",
            "ask the client to upload again",
        )


def rebuild(payload: Upload, blueprint: Blueprint) -> Network:
    """A client's network from its upload."""
    network = blueprint.build(torch.Generator())
    network.load_state_dict({name: payload.tensors[name] for name in network.state_dict()})
    return network.requires_grad_(False).eval()


def prototypes_of(payloads: Sequence[Upload]) -> Tensor:
    """(K, C, d)"""
    return torch.stack([payload.tensors[PROTOTYPES] for payload in payloads])


def data_shares(payloads: Sequence[Upload]) -> Tensor:
    """n_k / n, (K,)"""
    samples = torch.tensor([float(payload.samples) for payload in payloads])
    return samples / samples.sum()


def label_counts_of(payloads: Sequence[Upload]) -> Tensor:
    """n_kc, (K, C)"""
    return torch.stack([payload.tensors[LABEL_COUNTS] for payload in payloads]).float()
