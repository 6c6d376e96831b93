"""Differential privacy: how much noise hides any single image, what the figures mean, and pseudorandom noise.

The stream of a key is the same for everyone who has the key, and looks random without it.
"""

from dataclasses import dataclass
from functools import cache
from hashlib import shake_256
from math import exp, log, prod, sqrt, tau
from typing import Annotated, ClassVar

import numpy as np
import torch
from annotated_types import Gt, Le, Lt
from numpy.typing import NDArray
from torch import Tensor

from mooring.schema import Checked, Doc

COUNTS, SUMS, SECOND = 0.2, 0.6, 0.2  # shares of the budget: for the counts, for the sums, for the second moments
SMALLEST, LARGEST, HALVINGS = 1e-3, 1e7, 100
WORD = 8  # bytes
MANTISSA = 53  # bits of a float64


@dataclass(frozen=True)
class Privacy(Checked):
    """(epsilon, delta)-differential privacy of one upload for every single image of the site, by Gaussian noise.

    With one image more or less, no set of uploads becomes more than e^epsilon times as probable, but for delta.
    Features are reduced to `size` numbers of length 1: fewer numbers, less noise, and less to tell classes by.
    """

    kind: ClassVar[str] = "gaussian-noise"
    epsilon: Annotated[float, Gt(0), Le(100), Doc("privacy loss of one image: factor e^epsilon")]
    delta: Annotated[float, Gt(0), Lt(0.1), Doc("probability that the bound fails")] = 1e-5
    size: Annotated[int, Gt(0), Le(1024), Doc("dimension of the reduced features; fewer need less noise")] = 64

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise for each unit by which one image can change what is sent."""
        return gaussian_sigma(self.epsilon, self.delta)

    @property
    def noise(self) -> tuple[float, float, float]:
        """Standard deviations for counts, sums and second moments, released together.

        One image changes counts by 1, sums by a vector of length 1, and second moments u u' by a matrix of Frobenius
        norm 1: with deviations s_b = sigma / sqrt(share_b), sum_b 1 / s_b^2 = 1 / sigma^2, as for a single change of 1.
        """
        counts, sums, second = (self.sigma / sqrt(share) for share in (COUNTS, SUMS, SECOND))
        return counts, sums, second

    @property
    def sentence(self) -> str:
        """The figures, for people."""
        return (
            f"differential privacy for every single image: epsilon {self.epsilon:g}, delta {self.delta:g} for one "
            f"upload; counts are off by about {self.noise[0]:.0f} images"
        )


PRIVACIES: dict[str, type[Privacy]] = {"gaussian-noise": Privacy}


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """delta = Phi(1/(2 sigma) - epsilon sigma) - e^epsilon Phi(-1/(2 sigma) - epsilon sigma): Balle and Wang 2018.

    The smallest delta that noise of this deviation grants to what one image changes by at most 1: theorem 8.
    """
    from scipy.special import log_ndtr, ndtr  # here: every start would pay for it

    near, far = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
    return float(ndtr(near) - exp(epsilon + log_ndtr(far)))


def gaussian_epsilon(sigma: float, delta: float) -> float:
    """The smallest epsilon that noise of this deviation grants with this delta, from above."""
    low, high = 0.0, 1.0
    while gaussian_delta(sigma, high) > delta:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if gaussian_delta(sigma, middle) <= delta else (middle, high)
    return high


@cache
def gaussian_sigma(epsilon: float, delta: float) -> float:
    """The smallest deviation that grants (epsilon, delta), from above: delta falls as sigma grows."""
    low, high = log(SMALLEST), log(LARGEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if gaussian_delta(exp(middle), epsilon) <= delta else (middle, high)
    return exp(high)


def stream_words(key: bytes, names: tuple[str, ...], shape: tuple[int, ...]) -> Tensor:
    """64 random bits each, as int64: SHAKE-256 of the key and the names of the stream, lengths before each."""
    return torch.from_numpy(stream(key, names, prod(shape)).view(np.int64).reshape(shape))


def normals(key: bytes, names: tuple[str, ...], shape: tuple[int, ...]) -> Tensor:
    """N(0, 1) in float64, by Box and Muller (1958): sqrt(-2 ln u) cos(2 pi v), u in (0, 1] and v in [0, 1).

    Torch's generator is not used: a few outputs of a Mersenne twister reveal all others.
    """
    u, v = (stream(key, names, 2 * prod(shape)) >> np.uint64(64 - MANTISSA)).reshape(2, -1) * 2.0**-MANTISSA
    return torch.from_numpy(np.sqrt(-2 * np.log(1 - u)) * np.cos(tau * v)).reshape(shape)


def stream(key: bytes, names: tuple[str, ...], count: int) -> NDArray[np.uint64]:
    state = shake_256()
    for piece in (b"mooring secret stream", key, *(name.encode() for name in names)):
        state.update(len(piece).to_bytes(WORD, "little") + piece)
    return np.frombuffer(bytearray(state.digest(WORD * count)), "<u8").astype(np.uint64)
