"""Arrays of pixels in the shapes and types people keep them in, brought to the one that images have here."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooring.errors import DataError

MOST_CHANNELS = 4


def to_images(name: str, array: NDArray[Any]) -> NDArray[np.uint8]:
    """uint8 (N, C, H, W), from (N, H, W), (N, H, W, C) or (N, C, H, W) of uint8 or of floats in [0, 1]."""
    if array.size == 0:
        raise DataError(f"{name} is empty, {array.shape}", "save at least one image")
    return np.ascontiguousarray(_to_bytes(name, _channels_first(name, array)))


def _channels_first(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The axis of 1 to 4 is the channels; where both could be, guessing would scramble every image."""
    if array.ndim == 3:
        return array[:, None]
    if array.ndim != 4:
        raise DataError(f"{name} has shape {array.shape}", "save it as (N, H, W), (N, H, W, C) or (N, C, H, W)")
    first, last = (array.shape[axis] <= MOST_CHANNELS for axis in (1, 3))
    if first == last:
        raise DataError(
            f"{name} has shape {array.shape}, where the channels may be {'first or last' if first else 'neither'}",
            f"save it as (N, C, H, W) with at most {MOST_CHANNELS} channels and larger sides",
        )
    return array if first else array.transpose(0, 3, 1, 2)


def _to_bytes(name: str, array: NDArray[Any]) -> NDArray[np.uint8]:
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind != "f":
        raise DataError(f"{name} is {array.dtype}", "save uint8 from 0 to 255, or floats from 0 to 1")
    if not np.isfinite(array).all():
        image = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise DataError(f"{name}[{image}] holds NaN or infinity", "replace or leave out such images")
    low, high = float(array.min()), float(array.max())
    if low < 0 or high > 1:
        wrong = low if low < 0 else high
        raise DataError(f"{name} holds {wrong:g}", "scale floats to 0 to 1, or save uint8 from 0 to 255")
    return np.rint(array.astype(np.float32) * 255).astype(np.uint8)
