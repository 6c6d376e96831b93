"""Drawing proportions from a Dirichlet distribution, and turning proportions into whole images."""

import numpy as np

from mooring.data.partition.base import Floats, Ints


def log_dirichlet(alpha: float, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Rows of unnormalised log-proportions of Dirichlet(alpha, ..., alpha), finite for every alpha > 0.

    log G(alpha) = log G(alpha + 1) - E / alpha

    G is a gamma and E an exponential draw (Marsaglia & Tsang 2000, section 6). Gammas themselves underflow to 0 below
    alpha of about 1e-3, and a row of zeros has no proportions.
    """
    alpha = min(max(alpha, 1e-300), 1e300)  # so that neither E / alpha nor alpha itself overflows
    gammas = np.log(rng.standard_gamma(alpha + 1, shape))
    return np.asarray(gammas - rng.standard_exponential(shape) / alpha, dtype=np.float64)


def normalise(logs: Floats) -> Floats:
    """p = exp(l) / sum exp(l) along each row; -inf means never."""
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=np.float64)


def apportion(proportions: Floats, totals: Ints) -> Ints:
    """Whole numbers with row sums `totals`, each less than 1 from its quota p * n: largest remainders (Hamilton)."""
    quotas = proportions * totals[:, None]
    whole = np.floor(quotas).astype(np.int64)
    left = totals - whole.sum(axis=1)
    rank = np.argsort(np.argsort(whole - quotas, axis=1, kind="stable"), axis=1)
    return np.asarray(whole + (rank < left[:, None]), dtype=np.int64)
