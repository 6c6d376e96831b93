"""Fashion-MNIST in its official IDX files, gzipped or not."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mooring.data._idx import SIDE, count_images, read_pair
from mooring.data._images import ImageSet, Overview, Source
from mooring.data._locate import Download, find

CLASSES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
FOLDERS = ("fashion-mnist", ".", "/usr/share/datasets/fashion-mnist")  # the last is where Debian's package puts them
GET = "run `mooring data fetch fashion_mnist`, or install Debian's package (apt-get install dataset-fashion-mnist)"


@dataclass(frozen=True)
class FashionMnist(Source):
    """70,000 grey 28x28 garments in 10 classes (Xiao et al., 2017); a mirrored garment is still that garment."""

    mean: ClassVar[tuple[float, ...]] = (0.2860,)
    std: ClassVar[tuple[float, ...]] = (0.3530,)

    source: ClassVar[str] = "fashion_mnist"
    official_test: ClassVar[int | None] = 10_000
    download: ClassVar[Download | None] = Download.of_files(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
        "fashion-mnist",
        {
            "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
            "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
            "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
        },
    )

    def image_shape(self) -> tuple[int, int, int]:
        return 1, SIDE, SIDE

    def train(self) -> ImageSet:
        return read_pair(_files(self.root)[:2], CLASSES, GET)

    def test(self) -> ImageSet:
        return read_pair(_files(self.root)[2:], CLASSES, GET)

    def overview(self) -> Overview:
        files = _files(self.root)
        return Overview(count_images(files[0], GET), count_images(files[2], GET), len(CLASSES), (1, SIDE, SIDE), files)


def _files(root: str | None) -> tuple[Path, ...]:
    names = [f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
    return find(root, names, FOLDERS, GET, suffixes=(".gz", ""))
