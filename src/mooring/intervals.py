"""How far a measured share may be from the true one."""

from dataclasses import dataclass
from math import hypot, sqrt
from statistics import NormalDist


@dataclass(frozen=True)
class Rate:
    """`right` of `n`, and the interval that holds the true share in 95 of 100 such tests."""

    right: int
    n: int

    @property
    def share(self) -> float | None:
        return self.right / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.right, self.n) if self.n else None


def newcombe(right: int, other: int, total: int) -> tuple[float, float]:
    """The 95 % interval of the difference of two shares of so many tests each (Newcombe 1998, method 10), as if they
    had been of different images: of the same images the true one is narrower.

    p - q - sqrt((p - l_p)^2 + (u_q - q)^2)  to  p - q + sqrt((u_p - p)^2 + (q - l_q)^2), l and u by Wilson
    """
    (low, high), (others_low, others_high) = wilson(right, total), wilson(other, total)
    p, q = right / total, other / total
    return p - q - hypot(p - low, others_high - q), p - q + hypot(high - p, q - others_low)


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
