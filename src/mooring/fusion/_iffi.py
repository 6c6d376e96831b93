"""FAFI's other server: a client gets more weight on images that differ more from noise."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server
from mooring.fusion._ensemble import Ensemble, Members
from mooring.schema import Count, Doc
from mooring.seeds import generator
from mooring.types import Upload
from mooring.uploads import Encoder, Parts, Prototypes

LEAST = 1e-6  # where nobody sees anything, all are heard alike


class IffiPredictor(Ensemble):
    kind: ClassVar[str] = "iffi"
    holds: ClassVar[tuple[str, ...]] = ("prototypes", "noise")
    sides: ClassVar[tuple[int, ...]] = (2, 2)
    prototypes: Tensor  # (C, d)
    noise: Tensor  # (K, d)

    def weights(self, embeddings: Iterable[Tensor]) -> Tensor:
        """w_k(x), (K, B)"""
        cosines = [F.cosine_similarity(f, noise[None]) for f, noise in zip(embeddings, self.noise, strict=True)]
        return (1 - torch.stack(cosines)).clamp(min=LEAST)

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        f = torch.stack(list(embeddings))  # (K, B, d)
        w = self.weights(f)
        features = torch.einsum("kb,kbd->bd", w / w.sum(0), f)
        return F.normalize(features) @ self.prototypes.T


@dataclass(frozen=True)
class Iffi(Fusion):
    """Informativeness-aware fusion of features (FAFI): one weight for every client and sample.

    score_c(x) = F(x)/|F(x)| . P_c,  F(x) = sum_k w_k(x) f_k(x) / sum_k w_k(x),  P = mean_k P_k
    w_k(x) = 1 - cos(f_k(x), f_k(noise)),  f_k(noise) = mean embedding of images of Gaussian noise

    Deviations: the published code averages its weights over the clients, which makes all of them equal, and draws one
    noise image for every sample anew; every model is in eval mode.
    """

    kind: ClassVar[str] = "iffi"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = (
        "average of the clients' features, each weighed by how far it is from the client's feature of noise"
    )
    reference: ClassVar[str] = "FAFI: Zeng et al., ICML 2025"
    makes: ClassVar[Made] = (IffiPredictor,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes()})
    streams: ClassVar[bool] = True
    noise: Annotated[Count, Doc("number of noise images")] = 64

    def __call__(self, uploads: Sequence[Upload], server: Server) -> "IffiPredictor":
        blueprint = server.blueprint
        normal = torch.randn(self.noise, *blueprint.shape, generator=generator(server.seed, "iffi"))
        mean, std = (torch.tensor(values)[:, None, None] for values in (blueprint.mean, blueprint.std))
        images = mean + std * normal  # standard normal again inside the network
        members = Members.of(uploads, blueprint)
        with torch.no_grad():
            noise = torch.stack([network.embed(images).mean(0) for network in members.networks])
        return IffiPredictor(members, prototypes=members.prototypes.mean(0), noise=noise)
