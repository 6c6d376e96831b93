"""All clients' encoders side by side, at the server."""

from collections.abc import Iterator, Sequence

from torch import Tensor, nn

from mooring.fusion.base import Frozen, data_shares, rebuild
from mooring.models.network import Blueprint, Network
from mooring.types import Payload


class Ensemble(Frozen):
    """Encoders and their data shares n_k/n; a rule says what to do with what they see."""

    shares: Tensor  # (K,)

    def __init__(self, payloads: Sequence[Payload], blueprint: Blueprint) -> None:
        super().__init__()
        self.members = nn.ModuleList(rebuild(payload, blueprint) for payload in payloads)
        self.register_buffer("shares", data_shares(payloads))

    def embeddings(self, images: Tensor) -> Iterator[Tensor]:
        """f_k(x) of one client after the other, each (B, d), not normalised."""
        for network in self.members:
            assert isinstance(network, Network)
            yield network.embed(images)
