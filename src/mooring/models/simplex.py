"""The simplex equiangular tight frame."""

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from mooring.errors import ModelError


def simplex_etf(classes: int, dimension: int, rng: Generator) -> Tensor:
    """C unit vectors in R^d with cosine -1/(C-1) between any two, in a random orientation; exists iff d >= C-1.

    The rows of an orthonormal basis V (C x C-1) of the complement of the ones vector form a simplex; Q (C-1 x d) with
    orthonormal rows turns it: A = sqrt(C/(C-1)) V Q.
    """
    if dimension < classes - 1:
        raise ModelError(
            f"a simplex of {classes} anchors needs {classes - 1} feature dimensions, the model has {dimension}",
            "raise model.width or use the anchor random-unit",
        )
    if classes == 1:
        return F.normalize(torch.randn(1, dimension, generator=rng))
    size = classes - 1
    ones = torch.ones(classes, 1, dtype=torch.float64)
    basis = torch.linalg.qr(torch.cat([ones, torch.eye(classes, size, dtype=torch.float64)], 1)).Q[:, 1:]
    turned = torch.linalg.qr(torch.randn(dimension, size, generator=rng, dtype=torch.float64)).Q.T
    simplex: Tensor = (classes / size) ** 0.5 * basis @ turned
    return simplex.float()
