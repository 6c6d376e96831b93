"""The values that are black and white in images of more than 8 bits."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooring.errors import DataError

Levels = tuple[float, float]  # black, white; black may be the larger one


def to_bytes(values: NDArray[Any], black: float, white: float) -> NDArray[np.uint8]:
    """floor(255 (v - black) / (white - black)), cut to 0 to 255; of 16 bits, v // 257."""
    scaled = (np.asarray(values, np.float64) - black) * 255 / (white - black)
    shades: NDArray[np.uint8] = np.floor(scaled.clip(0, 255)).astype(np.uint8)
    return shades


def levels_needed(path: Path, held: str) -> DataError:
    return DataError(f"{path} holds {held}", "say which are black and white: data.levels=[BLACK, WHITE]")
