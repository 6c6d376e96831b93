"""How far a measured share may be from the true one."""

from math import sqrt
from statistics import NormalDist


def wilson(right: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """The interval that holds the true share in `level` of all such tests (Wilson 1927); without a test, all of it.

    (p + z^2/2n +- z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n)
    """
    if total <= 0:
        return 0.0, 1.0
    z, p, n = NormalDist().inv_cdf((1 + level) / 2), right / total, total
    middle, half = p + z**2 / (2 * n), z * sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = ((middle + sign * half) / (1 + z**2 / n) for sign in (-1, 1))
    return (low if right else 0.0), (high if right < total else 1.0)  # there they are, but for rounding
