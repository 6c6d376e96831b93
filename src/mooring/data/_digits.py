"""Scikit-learn's handwritten digits: real data that needs no download."""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from mooring.data._images import ImageSet, Overview, Source
from mooring.errors import DataError

CLASSES = tuple("0123456789")
TRAIN, TEST = 1437, 360
FILE = "datasets/data/digits.csv.gz"  # in scikit-learn; importing scikit-learn is slow, so the file is read directly
# one bit per image, 1 for testing: there is no official split, and all experiments must share one; it is
# scikit-learn's train_test_split(test_size=360, stratify=labels, random_state=0)
FOR_TESTING = """
000004883524104000064100934205001a00080100240028062c12001000940a009019120420f8a0028110a000080a882044
1524494240a00a0000004004d80000818020004805c400104008a0100005404800301000020ec409000224840083a8013c20
a6980a0000000b08400804a0184802024041c1008004404684376a810216004480004042a0a4180a5000840b8561c6081080
08004c80c02004068e00010882008100380803c008190000100e01008410a0210033282904c044c080680e01028300820088
22a6402c24042108a860809081a00c02820242120138a41500
"""


@dataclass(frozen=True)
class Digits(Source):
    """1,797 grey 8x8 digits in a fixed stratified split, 1,437 for training and 360 for testing.

    A mirrored digit is a different sign, so images are not mirrored. `mean` and `std` describe the training part.
    """

    mean: ClassVar[tuple[float, ...]] = (0.3054,)
    std: ClassVar[tuple[float, ...]] = (0.3760,)
    mirror: ClassVar[bool] = False

    source: ClassVar[str] = "digits"
    test_part: ClassVar[str] = "a fixed fifth of the digits, which no client trains on; there is no official test set"

    def image_shape(self) -> tuple[int, int, int]:
        return 1, 8, 8

    def train(self) -> ImageSet:
        return _part(0)

    def test(self) -> ImageSet:
        return _part(1)

    def overview(self) -> Overview:
        return Overview(TRAIN, TEST, len(CLASSES), (1, 8, 8))


def _part(which: int) -> ImageSet:
    table = _table()  # (1797, 65): 64 pixels, ink from 0 to 16, and the label
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(FOR_TESTING), np.uint8), count=len(table))
    chosen = table[bits == which]
    images = np.rint(chosen[:, :-1].reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)
    labels = chosen[:, -1].astype(np.int64)
    return ImageSet(torch.from_numpy(images).unsqueeze(1), torch.from_numpy(labels), CLASSES)


@cache
def _table() -> np.ndarray:
    found = find_spec("sklearn")  # looks for the package and does not import it
    file = Path(found.origin).parent / FILE if found and found.origin else Path(FILE)
    try:
        return np.loadtxt(file, delimiter=",")
    except OSError:
        raise DataError("the digits are missing: scikit-learn ships them", "pip install scikit-learn") from None
