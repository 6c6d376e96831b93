"""Numbers that nobody without the key can tell from random ones, the same for everybody who has it."""

from hashlib import shake_256
from math import prod, tau

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

WORD = 8  # bytes
MANTISSA = 53  # bits of a float64


def stream_words(key: bytes, names: tuple[str, ...], shape: tuple[int, ...]) -> Tensor:
    """64 random bits each, as int64: SHAKE-256 of the key and the names of the stream, lengths before each."""
    return torch.from_numpy(stream(key, names, prod(shape)).view(np.int64).reshape(shape))


def normals(key: bytes, names: tuple[str, ...], shape: tuple[int, ...]) -> Tensor:
    """N(0, 1) in float64, by Box and Muller (1958): sqrt(-2 ln u) cos(2 pi v), u in (0, 1] and v in [0, 1).

    No generator of torch: whoever sees some numbers of a Mersenne twister can compute all others.
    """
    u, v = (stream(key, names, 2 * prod(shape)) >> np.uint64(64 - MANTISSA)).reshape(2, -1) * 2.0**-MANTISSA
    return torch.from_numpy(np.sqrt(-2 * np.log(1 - u)) * np.cos(tau * v)).reshape(shape)


def stream(key: bytes, names: tuple[str, ...], count: int) -> NDArray[np.uint64]:
    state = shake_256()
    for piece in (b"mooring secret stream", key, *(name.encode() for name in names)):
        state.update(len(piece).to_bytes(WORD, "little") + piece)
    return np.frombuffer(bytearray(state.digest(WORD * count)), "<u8").astype(np.uint64)
