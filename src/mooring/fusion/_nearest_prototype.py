"""FedProto, once: the nearest mean of a class, over all clients."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar

import torch
from torch import Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server, label_counts_of
from mooring.fusion._ensemble import Ensemble, Members
from mooring.models import PROTOTYPES
from mooring.types import Upload
from mooring.uploads import CLASS_MEANS, ClassMeans, Encoder, LabelCounts, Parts


class NearestPrototypePredictor(Ensemble):
    kind: ClassVar[str] = "nearest-prototype"
    holds: ClassVar[tuple[str, ...]] = ("prototypes", "means", "counts")
    sides: ClassVar[tuple[int, ...]] = (2, 3, 2)
    prototypes: Tensor  # m, (C, d)
    means: Tensor  # mu, (K, C, d)
    counts: Tensor  # (K, C)

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        scores = torch.zeros(())
        for share, f in zip(self.shares, embeddings, strict=True):
            scores = scores - share * squared_distances(f, self.prototypes)
        return unseen_last(scores, self.counts.sum(0) > 0)

    def with_members(self, images: Tensor) -> tuple[Tensor, list[Tensor]]:
        """A client alone takes the nearest of its own class means: its learned prototypes stayed at home."""
        embeddings = [network.embed(images) for network in self.networks()]
        members = zip(embeddings, self.means, self.counts, strict=True)
        own = [unseen_last(-squared_distances(f, mu), counts > 0) for f, mu, counts in members]
        return self.combine(embeddings), own


@dataclass(frozen=True)
class NearestPrototype(Fusion):
    """score_c(x) = - sum_k n_k/n |f_k(x) - m_c|^2,  m_c = sum_k n_kc/n_c mu_kc (FedProto, Tan et al. 2022).

    Deviations: one round, in which no client has seen the global prototypes; the server uses all encoders, while a
    FedProto client uses its own. A class that no client has seen scores below every other.
    """

    kind: ClassVar[str] = "nearest-prototype"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = "nearest mean feature of a class, averaged over clients"
    reference: ClassVar[str] = "FedProto: Tan et al., AAAI 2022"
    makes: ClassVar[Made] = (NearestPrototypePredictor,)
    needs: ClassVar[Parts] = frozenset({Encoder(), ClassMeans(), LabelCounts()})

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Ensemble:
        members = Members.of([with_means(upload) for upload in uploads], server.blueprint)
        means, counts = torch.stack([upload.tensors[CLASS_MEANS] for upload in uploads]), label_counts_of(uploads)
        prototypes = torch.einsum("kc,kcd->cd", counts / counts.sum(0).clamp(min=1), means)
        return NearestPrototypePredictor(members, prototypes=prototypes, means=means, counts=counts)


def with_means(upload: Upload) -> Upload:
    """Means take the place of a network's learned prototypes, which need not be uploaded."""
    return replace(upload, tensors={**upload.tensors, PROTOTYPES: upload.tensors[CLASS_MEANS]})


def squared_distances(f: Tensor, prototypes: Tensor) -> Tensor:
    """|f(x) - p_c|^2, (B, C), without the cancellation of |f|^2 + |p|^2 - 2 f.p"""
    return torch.cdist(f, prototypes, compute_mode="donot_use_mm_for_euclid_dist").square()


def unseen_last(scores: Tensor, seen: Tensor) -> Tensor:
    """A class that no client has seen is farther than twice the farthest of the others: finite, and never predicted."""
    worst = scores.masked_fill(~seen, inf).amin(1, keepdim=True)
    return torch.where(seen, scores, 2 * worst - 1)
