"""All clients' encoders side by side, at the server."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Self

import torch
from annotated_types import MinLen
from torch import Tensor, nn

from mooring.fusion._base import shares_of
from mooring.fusion._predictor import Predictor, Saved
from mooring.models import Blueprint, Network
from mooring.schema import Tree
from mooring.types import Upload
from mooring.uploads import Tensors, networks_of


@dataclass(frozen=True)
class Members:
    """Clients' networks, all of one blueprint, and their data shares n_k/n."""

    blueprint: Blueprint
    clients: tuple[int, ...]
    networks: tuple[Network, ...]
    shares: Tensor  # (K,)

    @classmethod
    def of(cls, uploads: Iterable[Upload], blueprint: Blueprint) -> "Members":
        """Reads one upload at a time: uploads on disk are not kept in memory together with the networks."""
        clients, samples = [], []

        def states() -> Iterator[Tensors]:
            for upload in uploads:
                clients.append(upload.client)
                samples.append(upload.samples)
                yield upload.tensors

        networks = tuple(networks_of(states(), blueprint))
        return cls(blueprint, tuple(clients), networks, shares_of(samples))

    @property
    def prototypes(self) -> Tensor:
        """(K, C, d)"""
        return torch.stack([network.prototypes.detach() for network in self.networks])


class Ensemble(Predictor):
    """Every member's encoder sees every image; a rule says what to do with what they see.

    `holds` names the tensors that the rule keeps in addition to the members.
    """

    shares: Tensor  # (K,)

    def __init__(self, members: Members, **tensors: Tensor) -> None:
        super().__init__(members.blueprint)
        self.clients, self.passes = members.clients, len(members.clients)
        self.members = nn.ModuleList(members.networks)
        self.register_buffer("shares", members.shares.clone())
        self.hold(**tensors)

    @abstractmethod
    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        """Scores (B, C) from f_k(x), each (B, d) and not normalised, in the order of the members."""

    def forward(self, images: Tensor) -> Tensor:
        return self.combine(network.embed(images) for network in self.networks())

    def with_members(self, images: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The fused scores and every member's own logits, in one pass over the encoders."""
        networks = self.networks()
        embeddings = [network.embed(images) for network in networks]
        own = [network.view(f).logits for network, f in zip(networks, embeddings, strict=True)]
        return self.combine(embeddings), own

    def networks(self) -> list[Network]:
        return [member for member in self.members if isinstance(member, Network)]

    def tree(self) -> Tree:
        return super().tree() | {"clients": list(self.clients)}

    @classmethod
    def restored(cls, saved: Saved) -> Self:
        clients = saved.value("clients", Annotated[tuple[int, ...], MinLen(1)])
        networks = saved.networks("members", len(clients))
        members = Members(saved.blueprint, clients, networks, saved.tensor("shares"))
        return cls(members, **saved.held(cls))
