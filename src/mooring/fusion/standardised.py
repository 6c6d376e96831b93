"""Moments in units of each feature's own spread: a linear change, made after everything has been added up."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mooring.uploads.moments import Totals

CONSTANT = 1e-5  # variance over squared mean, below which rounding makes up most of a feature's variance


@dataclass(frozen=True)
class Standardised:
    """First and second moments of z = (x - centre) / spread, for the classes that somebody has seen."""

    n: Tensor  # ()
    shares: Tensor  # q, (C,)
    centre: Tensor  # (d,)
    inverse: Tensor  # (d,), 1 / spread; 0 for a feature that does not vary
    covariance: Tensor  # T, (d, d), of all images
    means: Tensor  # (C, d), of each class

    @property
    def cross(self) -> Tensor:
        """Z'Y / n for centred one-hot labels Y, (d, C)"""
        return self.means.T * self.shares

    @property
    def within(self) -> Tensor:
        """S = T - sum_c q_c m_c m_c', (d, d)"""
        return self.covariance - self.cross @ self.means


def standardised(totals: Totals) -> Standardised:
    seen = totals.counts > 0
    counts, sums = totals.counts[seen], totals.sums[seen]
    n = counts.sum()
    centre = sums.sum(0) / n
    covariance = totals.second / n - torch.outer(centre, centre)
    variance = covariance.diagonal()
    varies = variance > CONSTANT * centre.square()
    inverse = torch.where(varies, variance, torch.ones_like(variance)).rsqrt() * varies
    return Standardised(
        n,
        counts / n,
        centre,
        inverse,
        covariance * torch.outer(inverse, inverse),
        (sums / counts[:, None] - centre) * inverse,
    )
