"""A warning about images that were read with the wrong black and white."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mooring.data._images import DataWarning

FAINT = 32  # of 256 shades: images that have no more between all of them were read with the wrong levels


@dataclass
class Contrast:
    """The darkest and the brightest value of all images: 12 bits stored in 16 are almost black."""

    low: int = 255
    high: int = 0
    images: int = 0

    def see(self, pixels: NDArray[np.uint8]) -> None:
        self.low, self.high = min(self.low, int(pixels.min())), max(self.high, int(pixels.max()))
        self.images += 1

    def report(self) -> None:
        if self.high - self.low < FAINT and self.images > 1:
            message = f"all pixels of {self.images} images lie between {self.low} and {self.high} of 255"
            remedy = "set data.levels=[BLACK, WHITE] to the values that mean black and white, such as [0, 4095]"
            warnings.warn(f"{message}; if the files hold more than 8 bits, {remedy}", DataWarning, stacklevel=6)
