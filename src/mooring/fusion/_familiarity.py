"""A client counts more for images that are familiar to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server, label_counts_of, prototypes_of
from mooring.fusion._ensemble import Ensemble, Members
from mooring.schema import Doc, NonNegative, Positive
from mooring.types import Upload
from mooring.uploads import PROTOTYPE_RESPONSE, Encoder, LabelCounts, Parts, PrototypeResponse, Prototypes

SMALLEST = 1e-6  # of a response: a network whose features all vanish finds nothing familiar
EXCLUDED = -1e4  # a logit whose probability is zero
FLOOR = log(1e-30)  # score of a class that no client holds


class FamiliarityPredictor(Ensemble):
    kind: ClassVar[str] = "familiarity"
    holds: ClassVar[tuple[str, ...]] = ("anchors", "own", "responses", "held", "exponent", "sharpness")
    sides: ClassVar[tuple[int, ...]] = (2, 3, 1, 2, 0, 0)
    anchors: Tensor  # A, (C, d), unit norm
    own: Tensor  # P, (K, C, d), unit norm
    responses: Tensor  # mean of m_k over client k's own images, (K,)
    held: Tensor  # (K, C), 1 where the client has images of the class, else 0
    exponent: Tensor  # q, ()
    sharpness: Tensor  # b, ()

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        mixture, weights = [], []
        members = zip(self.shares, self.own, self.responses, self.held, embeddings, strict=True)
        for share, own, response, held, f in members:
            m = (f @ own.T).masked_fill(held == 0, EXCLUDED).amax(1, keepdim=True)  # (B, 1)
            weight = share.log() + self.exponent * (m / response).clamp(min=SMALLEST).log()  # log n_k/n r_k^q
            logits = self.sharpness * (F.normalize(f) @ self.anchors.T)
            mixture.append(weight + logits.masked_fill(held == 0, EXCLUDED).log_softmax(1))
            weights.append(weight)
        return (torch.stack(mixture).logsumexp(0) - torch.stack(weights).logsumexp(0)).clamp(min=FLOOR)


@dataclass(frozen=True)
class Familiarity(Fusion):
    """p(c|x) = sum_k w_k(x) p_k(c|x) / sum_k w_k(x),  w_k(x) = n_k/n r_k(x)^q,  r_k(x) = m_k(x) / mean of m_k

    m_k(x) = max over client k's classes of <f_k(x), P_kc>, with P_kc the unit prototypes of the client: the raw feature
    is long and points at a prototype if the image is like those that the client was trained on. The mean of m_k over
    the client's own images is uploaded with the model, so r_k is about 1 for familiar images and small for others.
    p_k(.|x) = softmax of b cos(f_k(x), A_c) over the classes of client k, with A the unit mean of all unit prototypes:
    a client votes only for classes that it knows, and the norm of a prototype has no influence. Scores are log p.
    """

    kind: ClassVar[str] = "familiarity"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = (
        "each client votes for its own classes, weighted by data share and by how familiar the image is to it"
    )
    reference: ClassVar[str] = "Mooring, 2026"
    makes: ClassVar[Made] = (FamiliarityPredictor,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes(), LabelCounts(), PrototypeResponse()})
    exponent: Annotated[NonNegative, Doc("exponent of the familiarity; 0: data shares only")] = 2.0
    sharpness: Annotated[Positive, Doc("factor of the cosines in a client's vote")] = 10.0

    def __call__(self, uploads: Sequence[Upload], server: Server) -> "FamiliarityPredictor":
        own = F.normalize(prototypes_of(uploads), dim=2)
        return FamiliarityPredictor(
            Members.of(uploads, server.blueprint),
            anchors=F.normalize(own.mean(0)),
            own=own,
            responses=torch.cat([upload.tensors[PROTOTYPE_RESPONSE] for upload in uploads]).clamp(min=SMALLEST),
            held=(label_counts_of(uploads) > 0).float(),
            exponent=torch.tensor(float(self.exponent)),
            sharpness=torch.tensor(float(self.sharpness)),
        )
