"""RegMean: every layer answers its clients' inputs as they did, as well as one layer can."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server, data_shares
from mooring.fusion._merged import Merged, averaged, samples_of, states_of
from mooring.schema import Doc, Fraction
from mooring.types import Upload
from mooring.uploads import GRAM, Encoder, Grams, Parts, Prototypes, unpack_triangle

JITTER = 1e-6  # of the mean of the diagonal


@dataclass(frozen=True)
class RegMean(Fusion):
    """W = (sum_k G~_k)^-1 sum_k G~_k W_k,  G~ = shrink G + (1 - shrink) diag(G) (RegMean, Jin et al. 2023).

    G_k sums over all of a client's images; larger clients therefore count for more. Biases, norms and their statistics
    are averaged by data shares. Deviation: convolutions too, by their patches.
    """

    kind: ClassVar[str] = "regmean"
    group: ClassVar[FusionGroup] = "one network by merging parameters"
    about: ClassVar[str] = "each layer the least-squares fit to what the clients' layers answer to their own inputs"
    reference: ClassVar[str] = "RegMean: Jin et al., ICLR 2023"
    makes: ClassVar[Made] = (Merged,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes(), Grams()})
    shrink: Annotated[Fraction, Doc("factor of off-diagonal entries; 1: plain least squares")] = 0.9

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Merged:
        states = states_of(uploads, server.blueprint)
        state, shares = averaged(zip(states, samples_of(uploads), strict=True)), data_shares(uploads).double()
        for name in [name.removeprefix(GRAM) for name in Grams().expected(server.blueprint)]:
            weights = (theta[name].flatten(1).T.double() for theta in states)  # (inputs, outputs)
            grams = (shrunk(gram_of(upload, name), self.shrink) for upload in uploads)
            state[name] = regression_mean(grams, weights, shares).T.reshape(state[name].shape).float()
        return Merged(state, server.blueprint)


def regression_mean(grams: Iterable[Tensor], weights: Iterable[Tensor], shares: Tensor) -> Tensor:
    """argmin_W sum_k |X_k W - X_k W_k|^2 with G_k = X_k^T X_k: (sum_k G_k)^-1 sum_k G_k W_k.

    Without inputs it is the mean by shares: a jitter in both sums leaves equal weights as they are.
    """
    left = right = mean = torch.zeros((), dtype=torch.float64)
    for gram, weight, share in zip(grams, weights, shares, strict=True):
        left, right, mean = left + gram, right + gram @ weight, mean + share * weight
    scale = left.diagonal().mean()
    jitter = JITTER * scale if scale > 0 else torch.ones_like(scale)
    solution: Tensor = torch.linalg.solve(left + jitter * torch.eye(len(left)), right + jitter * mean)
    return solution


def shrunk(gram: Tensor, shrink: float) -> Tensor:
    """Off-diagonal entries times `shrink`."""
    return shrink * gram + (1 - shrink) * gram.diagonal().diag()


def gram_of(upload: Upload, name: str) -> Tensor:
    """G_k of one layer."""
    return unpack_triangle(upload.tensors[GRAM + name], upload.tensors[name][0].numel()).double()
