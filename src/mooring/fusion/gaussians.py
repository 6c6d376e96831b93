"""Gaussian classes from moments: shared, own or diagonal covariance."""

import torch
from torch import Tensor, nn

from mooring.fusion.frozen_features import Affine, cholesky
from mooring.uploads.moments import Totals

LEAST = 1e-12  # variance of features that do not vary at all


class Posterior(nn.Module):
    """log p(c | x) = log p(x | c) + log p(c) - log p(x)"""

    log_prior: Tensor  # (C,)

    def __init__(self, likelihood: nn.Module, log_prior: Tensor) -> None:
        super().__init__()
        self.likelihood = likelihood
        self.register_buffer("log_prior", log_prior)

    def forward(self, x: Tensor) -> Tensor:
        joint: Tensor = self.likelihood(x) + self.log_prior
        return joint.log_softmax(1)


class Gaussians(nn.Module):
    """log p(x | c) = -1/2 |L_c^-1 (x - m_c)|^2 - sum log diag L_c, up to a constant, with S_c = L_c L_c'."""

    means: Tensor  # (C, d)
    inverse: Tensor  # (C, d, d), L_c^-1

    def __init__(self, means: Tensor, covariances: Tensor) -> None:
        super().__init__()
        factors = cholesky(covariances)
        identity = torch.eye(means.shape[1], dtype=means.dtype).expand_as(factors)
        self.register_buffer("means", means)
        self.register_buffer("inverse", torch.linalg.solve_triangular(factors, identity, upper=False))

    def forward(self, x: Tensor) -> Tensor:
        by_class = zip(self.means, self.inverse, strict=True)
        return torch.stack([log_density((x - m) @ inverse.T, inverse.diag()) for m, inverse in by_class], 1)


class DiagonalGaussians(nn.Module):
    """log p(x | c) = -1/2 sum (x - m_c)^2 / v_c - 1/2 sum log v_c, up to a constant."""

    means: Tensor  # (C, d)
    variances: Tensor  # (C, d)

    def __init__(self, means: Tensor, variances: Tensor) -> None:
        super().__init__()
        self.register_buffer("means", means)
        self.register_buffer("variances", variances)

    def forward(self, x: Tensor) -> Tensor:
        by_class = zip(self.means, self.variances.rsqrt(), strict=True)
        return torch.stack([log_density((x - m) * inverse, inverse) for m, inverse in by_class], 1)


def log_density(whitened: Tensor, inverse: Tensor) -> Tensor:
    """(B, d) and the d inverse standard deviations -> (B,)"""
    return inverse.log().sum() - 0.5 * whitened.square().sum(1)


def shared(totals: Totals, seen: Tensor, shrinkage: float) -> nn.Module:
    """S = (X'X - sum_c n_c m_c m_c') / n;  log p(x | c) = x S^-1 m_c - 1/2 m_c S^-1 m_c but for what classes share."""
    n, means = class_means(totals, seen)
    covariance = (totals.second - (n[:, None] * means).T @ means) / n.sum()
    t = covariance.diag().mean().clamp(min=LEAST)
    shrunk = (1 - shrinkage) * covariance + shrinkage * t * torch.eye(len(covariance), dtype=t.dtype)
    weight = torch.cholesky_solve(means.T, cholesky(shrunk))  # (d, C)
    return Affine(weight, -0.5 * (means.T * weight).sum(0))


def own(totals: Totals, seen: Tensor, shrinkage: float) -> nn.Module:
    """S_c = (sum_c x x') / n_c - m_c m_c'"""
    n, means = class_means(totals, seen)
    covariances = totals.second[seen] / n[:, None, None] - means[:, :, None] * means[:, None, :]
    t = within(covariances.diagonal(dim1=1, dim2=2), n)
    return Gaussians(means, (1 - shrinkage) * covariances + shrinkage * t * torch.eye(means.shape[1], dtype=t.dtype))


def diagonal(totals: Totals, seen: Tensor, shrinkage: float) -> nn.Module:
    """v_c = (sum_c x^2) / n_c - m_c^2"""
    n, means = class_means(totals, seen)
    variances = (totals.second[seen] / n[:, None] - means.square()).clamp(min=0)
    return DiagonalGaussians(means, (1 - shrinkage) * variances + shrinkage * within(variances, n))


def class_means(totals: Totals, seen: Tensor) -> tuple[Tensor, Tensor]:
    """n_c and m_c of the classes seen."""
    n = totals.counts[seen]
    return n, totals.sums[seen] / n[:, None]


def within(variances: Tensor, n: Tensor) -> Tensor:
    """t: the mean over features and images of the variance within classes, (C, d) -> ()"""
    return (n @ variances.mean(1) / n.sum()).clamp(min=LEAST)
