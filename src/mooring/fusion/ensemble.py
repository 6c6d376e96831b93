"""All clients' encoders side by side, at the server."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from torch import Tensor, nn

from mooring.fusion.base import Frozen, data_shares, rebuild
from mooring.models.network import Blueprint, Network
from mooring.types import Upload


class Ensemble(Frozen):
    """Encoders and their data shares n_k/n; a rule says what to do with what they see."""

    shares: Tensor  # (K,)

    def __init__(self, payloads: Sequence[Upload], blueprint: Blueprint) -> None:
        super().__init__()
        self.clients = tuple(payload.client for payload in payloads)
        self.members = nn.ModuleList(rebuild(payload, blueprint) for payload in payloads)
        self.register_buffer("shares", data_shares(payloads))

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
