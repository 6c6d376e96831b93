"""MNIST and EMNIST in their official IDX files, which you bring."""

from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Annotated, ClassVar, Literal

from mooring.data._idx import SIDE, count_images, read_pair
from mooring.data._images import ImageSet, Overview, Source
from mooring.data._locate import find
from mooring.schema import Doc

MNIST_FOLDERS = ("mnist", "MNIST/raw", ".")  # the second is where torchvision puts them
EMNIST_FOLDERS = ("emnist", "EMNIST/raw", "gzip", ".")
GET_MNIST = "get train-images-idx3-ubyte.gz and the three files beside it"
GET_EMNIST = "get gzip.zip of EMNIST and unpack it"
MERGED = digits + ascii_uppercase + "abdefghnqrt"  # letters whose two cases look different
CLASSES = {
    "balanced": MERGED,
    "bymerge": MERGED,
    "byclass": digits + ascii_uppercase + ascii_lowercase,
    "digits": digits,
    "letters": ascii_lowercase,
    "mnist": digits,
}


def idx_files(
    root: str | None, names: tuple[str, str], ending: str, folders: tuple[str, ...], get: str
) -> tuple[Path, ...]:
    """Images and labels of the training part, then of the test part."""
    files = [f"{part}-{kind}{ending}" for part in names for kind in ("images-idx3", "labels-idx1")]
    return find(root, files, folders, get, suffixes=(".gz", ""))


@dataclass(frozen=True)
class Mnist(Source):
    """70,000 grey 28x28 digits (LeCun et al. 1998); a mirrored digit is a different sign."""

    mean: ClassVar[tuple[float, ...]] = (0.1307,)
    std: ClassVar[tuple[float, ...]] = (0.3081,)
    mirror: ClassVar[bool] = False
    source: ClassVar[str] = "mnist"
    official_test: ClassVar[int | None] = 10_000

    def image_shape(self) -> tuple[int, int, int]:
        return 1, SIDE, SIDE

    def files(self) -> tuple[Path, ...]:
        return idx_files(self.root, ("train", "t10k"), "-ubyte", MNIST_FOLDERS, GET_MNIST)

    def train(self) -> ImageSet:
        return read_pair(self.files()[:2], tuple(digits), GET_MNIST)

    def test(self) -> ImageSet:
        return read_pair(self.files()[2:], tuple(digits), GET_MNIST)

    def overview(self) -> Overview:
        files = self.files()
        train, test = (count_images(files[i], GET_MNIST) for i in (0, 2))
        return Overview(train, test, len(digits), (1, SIDE, SIDE), files)


@dataclass(frozen=True)
class Emnist(Source):
    """Handwritten letters and digits, 28x28, grey (Cohen et al. 2017). The files hold every image transposed."""

    mean: ClassVar[tuple[float, ...]] = (0.1751,)
    std: ClassVar[tuple[float, ...]] = (0.3332,)
    mirror: ClassVar[bool] = False
    source: ClassVar[str] = "emnist"
    split: Annotated[
        Literal["balanced", "byclass", "bymerge", "digits", "letters", "mnist"], Doc("which of its six data sets")
    ] = "balanced"

    def image_shape(self) -> tuple[int, int, int]:
        return 1, SIDE, SIDE

    def files(self) -> tuple[Path, ...]:
        names = (f"emnist-{self.split}-train", f"emnist-{self.split}-test")
        return idx_files(self.root, names, "-ubyte", EMNIST_FOLDERS, GET_EMNIST)

    def train(self) -> ImageSet:
        return self._read(self.files()[:2])

    def test(self) -> ImageSet:
        return self._read(self.files()[2:])

    def _read(self, files: tuple[Path, ...]) -> ImageSet:
        first = 1 if self.split == "letters" else 0
        found = read_pair(files, tuple(CLASSES[self.split]), GET_EMNIST, first)
        return ImageSet(found.images[:].transpose(2, 3).contiguous(), found.labels, found.classes)

    def overview(self) -> Overview:
        files = self.files()
        train, test = (count_images(files[i], GET_EMNIST) for i in (0, 2))
        return Overview(train, test, len(CLASSES[self.split]), (1, SIDE, SIDE), files)
