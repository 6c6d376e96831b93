"""Randomness is an argument: every random stream is named and derived from a seed.

`generator(seed, "client", 3, "augment")` is the same stream in every process, whoever else drew numbers before.
"""

from hashlib import sha256

import numpy as np
import torch

Name = str | int


def derive(seed: int, *names: Name) -> int:
    """A 63-bit seed for the stream called `names` under `seed`."""
    label = "/".join([str(seed), *map(str, names)])
    return int.from_bytes(sha256(label.encode()).digest()[:8], "big") >> 1


def generator(seed: int, *names: Name) -> torch.Generator:
    """The torch stream called `names` under `seed`."""
    return torch.Generator().manual_seed(derive(seed, *names))


def numpy_generator(seed: int, *names: Name) -> np.random.Generator:
    """The numpy stream called `names` under `seed`."""
    return np.random.default_rng(derive(seed, *names))
