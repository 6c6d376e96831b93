"""FedFisher: every parameter by those whose images determine it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch

from mooring.fusion._base import Fusion, FusionGroup, Made, Server, data_shares
from mooring.fusion._merged import Merged, averaged, samples_of, states_of, weighted_mean
from mooring.schema import Doc, Positive
from mooring.types import Upload
from mooring.uploads import FISHER, Encoder, FisherDiagonal, Parts, Prototypes


@dataclass(frozen=True)
class Fisher(Fusion):
    """theta = sum_k W_k theta_k / sum_k W_k,  W_k = F_k + damping n_k/n mean(F) (FedFisher, Jhunjhunwala et al. 2024).

    F is the sum of the clients' diagonal Fisher informations, its mean is over all parameters: where no client has
    information, this is the mean by data shares. So are the batch-norm statistics, which have no gradient. Deviation:
    the published server walks from the average towards the minimum (by Adam) and keeps the step that is best on
    validation images; here damping holds the minimum itself near the average, and no images are asked for.
    """

    kind: ClassVar[str] = "fisher"
    group: ClassVar[FusionGroup] = "one network by merging parameters"
    about: ClassVar[str] = (
        "average of all weights, each by how much the client's images determine it (Fisher information)"
    )
    reference: ClassVar[str] = "FedFisher: Jhunjhunwala et al., AISTATS 2024"
    makes: ClassVar[Made] = (Merged,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes(), FisherDiagonal()})
    damping: Annotated[Positive, Doc("weight of the plain mean, in units of the mean information")] = 1.0

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Merged:
        names = list(FisherDiagonal().expected(server.blueprint))
        damping = self.damping * data_shares(uploads).double() * mean_information(uploads, names)  # (K,)
        states = states_of(uploads, server.blueprint)
        state = averaged(zip(states, samples_of(uploads), strict=True))
        for name in names:
            weights = (upload.tensors[name].double() + d for upload, d in zip(uploads, damping, strict=True))
            parameter = name.removeprefix(FISHER)
            state[parameter] = weighted_mean([theta[parameter] for theta in states], weights)
        return Merged(state, server.blueprint)


def mean_information(uploads: Sequence[Upload], names: Sequence[str]) -> float:
    """mean(F) over all parameters; never 0, because weights are divided by their sum."""
    information = sum(float(upload.tensors[name].sum(dtype=torch.float64)) for upload in uploads for name in names)
    return max(information / sum(uploads[0].tensors[name].numel() for name in names), torch.finfo().tiny)
